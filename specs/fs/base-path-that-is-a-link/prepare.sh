W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
mkdir "$W/../other"; echo ESCAPED > "$W/../other/secret"; ln -s ../other "$W/reports"
