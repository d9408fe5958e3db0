printf '\n[policy.hosts]\nnever = ["other.test"]\n' >> "$HOME/.config/bailiwick/bailiwick.toml"
