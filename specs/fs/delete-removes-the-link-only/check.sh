W=$HOME/.local/share/bailiwick/workspaces/w
test -f "$W/../o/f"; test ! -e "$W/d"; test ! -L "$W/l"
