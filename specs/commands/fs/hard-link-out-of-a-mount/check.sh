# The hollow machine has one name for it only as long as nobody links it.
if [ ! -e other ]; then echo "it was moved"; exit 1; fi
