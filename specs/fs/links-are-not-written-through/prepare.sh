W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
mkdir "$W/../o"; printf safe > "$W/../o/f"; ln -s ../o/f "$W/out"; ln -s ../o "$W/dir"; printf a > "$W/a"; ln -s a "$W/in"
