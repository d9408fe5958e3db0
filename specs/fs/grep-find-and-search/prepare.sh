W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
mkdir -p "$W/d"; printf 'hi\nho\nyo\n' > "$W/d/a.txt"; echo nothing > "$W/d/b.md"
