W=$HOME/.local/share/bailiwick/workspaces/code
umask 077; mkdir -p "$W/data"; printf hello > "$W/data/in.txt"
