W=$HOME/.local/share/bailiwick/workspaces/w
test -z "$(ls -A "$W")"
