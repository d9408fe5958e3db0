mkdir -p "$HOME/.local/share/bailiwick"
