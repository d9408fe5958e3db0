echo secret > "$HOME/secret"
mkdir -p "$HOME/.local/share/bailiwick" "$HOME/.config/bailiwick"
echo secret > "$HOME/.local/share/bailiwick/secret"
echo "$HOME" > home-at
