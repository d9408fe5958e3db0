W=$HOME/.local/share/bailiwick/workspaces/w
test -d "$W/d/e"
