W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
echo 1 > "$W/a"; mkdir -p "$W/d/e"; echo 2 > "$W/d/e/f"
