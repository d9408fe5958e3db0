find outside -printf '%p %y %n %s %l\n' | sort > after
if ! cmp before after || [ "$(cat outside/file)" != untouched ]; then
    echo "ESCAPED: the host is not as it was"
    exit 1
fi
if "$PROGRAM" image ls | grep evil; then
    echo "ESCAPED: it was taken"
    exit 1
fi
