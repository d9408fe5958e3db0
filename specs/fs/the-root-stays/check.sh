W=$HOME/.local/share/bailiwick/workspaces/w
test -f "$W/keep"; test -d "$W/d"
