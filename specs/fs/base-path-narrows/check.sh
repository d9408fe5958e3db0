W=$HOME/.local/share/bailiwick/workspaces/w
test ! -e "$W/new"; test -f "$W/reports/b"
