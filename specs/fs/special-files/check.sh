W=$HOME/.local/share/bailiwick/workspaces/w
test -p "$W/p"
