W=$HOME/.local/share/bailiwick/workspaces/w
test "$(cat "$HOME/docs/a.txt")" = shared; test ! -e "$HOME/docs/new"
