W=$HOME/.local/share/bailiwick/workspaces/w
test -f "$W/a"
