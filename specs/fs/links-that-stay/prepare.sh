W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
mkdir "$W/d"; printf inside > "$W/d/f"; ln -s d/f "$W/l"; ln -s d "$W/k"
