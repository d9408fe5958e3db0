test ! -e "$HOME/.local/share/bailiwick/workspaces/code/a"
