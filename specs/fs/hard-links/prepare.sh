W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
printf safe > "$W/../o"; ln "$W/../o" "$W/a"
