if [ -e owner.pid ]; then
    kill "$(cat owner.pid)"
    while kill -0 "$(cat owner.pid)" 2>/dev/null; do sleep 0.1; done
fi
listed() {
    find folder outside -printf '%p %y %m %s %T@ %l\n' | sort
    find folder outside -type f -exec cat {} +
}
listed > after
if ! diff before after; then
    echo "ESCAPED: the host is not as it was"
    exit 1
fi
