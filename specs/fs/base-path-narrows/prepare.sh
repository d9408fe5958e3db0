W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
mkdir "$W/reports" "$W/reports2"; printf 1 > "$W/reports/a"; echo ESCAPED > "$W/secret"
