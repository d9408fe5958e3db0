W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
