W=$HOME/.local/share/bailiwick/workspaces/w
test ! -e "$W/a"
