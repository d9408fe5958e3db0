W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
truncate -s 10485760 "$W/fits"; truncate -s 10485761 "$W/over"
