W=$HOME/.local/share/bailiwick/workspaces/w
test "$(cat "$W/../o/f")" = safe; test "$(cat "$W/a")" = a; test "$(ls "$W/../o")" = f
