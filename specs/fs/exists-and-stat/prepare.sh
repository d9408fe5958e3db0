W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
echo 1 > "$W/a"
