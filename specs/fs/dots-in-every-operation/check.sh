W=$HOME/.local/share/bailiwick/workspaces/w
test "$(cat "$W/../outside")" = ESCAPED; test ! -e "$W/../new"; test -f "$W/d/f"
