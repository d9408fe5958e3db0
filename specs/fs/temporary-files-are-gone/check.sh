W=$HOME/.local/share/bailiwick/workspaces/w
test "$(ls -A "$W" | tr "\n" " ")" = "a d "
