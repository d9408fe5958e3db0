W=$HOME/.local/share/bailiwick/workspaces/w
test "$(cat "$W/b")" = 2
