printf '\n[sandbox]\nauthority = true\n' >> "$HOME/.config/bailiwick/bailiwick.toml"
