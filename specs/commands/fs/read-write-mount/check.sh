if [ "$(cat given/new)" != "from inside" ]; then exit 1; fi
if [ "$(stat -c %u given/new)" = 0 ]; then echo "it is root's"; exit 1; fi
