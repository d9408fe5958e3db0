W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
mkdir -p "$HOME/.config/bailiwick"; printf '[fs]\nreadRoots = ["%s"]\n' "$HOME" > "$HOME/.config/bailiwick/bailiwick.toml"
