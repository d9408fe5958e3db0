find outside -printf '%p %y %n %s %l\n' | sort > after
if ! cmp before after || [ "$(cat outside/file)" != untouched ]; then
    echo "ESCAPED: the host is not as it was"
    exit 1
fi
if [ "$("$PROGRAM" exec --image evil:1 -- /bin/cat /note)" != "of the image" ]; then
    echo "ESCAPED: the image has changed"
    exit 1
fi
