W=$HOME/.local/share/bailiwick/workspaces/w
test "$(cat "$W/a.json")" = '{"ä": [1]}'
