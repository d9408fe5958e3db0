if [ -e owner.pid ]; then
    kill "$(cat owner.pid)"
    while kill -0 "$(cat owner.pid)" 2>/dev/null; do sleep 0.1; done
fi
