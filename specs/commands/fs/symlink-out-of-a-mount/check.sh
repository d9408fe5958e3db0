if [ -e "$HOME/new" ]; then echo "it was written through a link"; exit 1; fi
