if [ -n "$(find given -type b -o -type c)" ]; then echo "a device is left"; exit 1; fi
