at=$(cat at)
rm "$at"
if [ -e "$at.from-inside" ]; then rm "$at.from-inside"; echo "a file got out"; exit 1; fi
