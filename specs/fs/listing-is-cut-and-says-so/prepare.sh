W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
cd "$W"; seq 1 10001 | xargs touch
