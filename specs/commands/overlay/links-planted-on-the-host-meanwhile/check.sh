if [ -e owner.pid ]; then
    kill "$(cat owner.pid)"
    while kill -0 "$(cat owner.pid)" 2>/dev/null; do sleep 0.1; done
fi

if [ "$(ls outside)" != file ] || [ "$(cat outside/file)" != untouched ]; then
    echo "ESCAPED: $(ls outside) $(cat outside/file)"
    exit 1
fi
test -L folder/one
test -L folder/sub
