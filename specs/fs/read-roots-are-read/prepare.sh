W=$HOME/.local/share/bailiwick/workspaces/w
umask 077
mkdir -p "$W"
mkdir -p "$HOME/docs/sub"; printf shared > "$HOME/docs/a.txt"; printf ESCAPED > "$HOME/beside"; ln -s ../beside "$HOME/docs/link"
mkdir -p "$HOME/.config/bailiwick"; printf '[fs]\nreadRoots = ["%s"]\n' "$HOME/docs" > "$HOME/.config/bailiwick/bailiwick.toml"
