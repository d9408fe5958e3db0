test "$(cat folder/one)" = one || { echo "ESCAPED: it landed"; exit 1; }
blocks=$(du -k folder | tail -1 | cut -f1)
if [ "$blocks" -gt 10000 ]; then
    echo "ESCAPED: $blocks KiB"
    exit 1
fi
