W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
mkdir "$W/../o" "$W/d"; echo safe > "$W/../o/f"; ln -s ../o/f "$W/l"; ln -s ../../o "$W/d/o"; ln -s ../o "$W/k"
