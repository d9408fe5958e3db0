W=$HOME/.local/share/bailiwick/workspaces/w
test "$(cat "$W/A")" = 1; test "$(cat "$W/a")" = 2
