if [ "$(cat given/new)" != "from inside" ]; then exit 1; fi
# Whose the folder is, theirs is what comes into it.
if [ "$(stat -c %u given/new)" != "$(stat -c %u given)" ]; then stat given/new; exit 1; fi
