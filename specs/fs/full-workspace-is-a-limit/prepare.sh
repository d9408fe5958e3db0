W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
for i in $(seq 1 25); do truncate -s 10485760 "$W/f$i"; done
