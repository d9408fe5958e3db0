cd /srv/folder
for node in "c 1 3" "c 0 0" "b 7 0"; do
    if mknod node $node 2>/dev/null; then echo "ESCAPED: made $node"; rm node; else echo "REFUSED $node"; fi
done
