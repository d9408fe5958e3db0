if [ ! -e other ]; then echo "it was moved"; exit 1; fi
