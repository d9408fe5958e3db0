found=$(find "$HOME" -name able)
test -n "$found"
if python3 -c 'import os, sys; os.getxattr(sys.argv[1], "security.capability")' "$found" 2>/dev/null; then
    echo "ESCAPED: it is on the disk"
    exit 1
fi
