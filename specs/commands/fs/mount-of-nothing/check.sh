if [ -e nowhere ]; then echo "it was made"; exit 1; fi
