W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
head -c 50000 /dev/zero | tr "\0" a > "$W/a"; echo b >> "$W/a"
