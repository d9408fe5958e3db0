for folder in /tmp /dev/shm /var/tmp "$HOME"; do
  left="$folder/$(cat name)"
  if [ -e "$left" ]; then rm "$left"; echo "ESCAPED to $left"; wrong=yes; fi
done
if [ -n "$wrong" ]; then exit 1; fi
