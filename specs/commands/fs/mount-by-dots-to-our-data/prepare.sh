# The program makes its folders itself.
"$PROGRAM" tool list >/dev/null 2>&1 || true
mkdir -p "$HOME/.local/share/bailiwick/below" "$HOME/.config/bailiwick"
