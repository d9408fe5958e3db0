W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
printf 1 > "$W/a"; printf 2 > "$W/b"
