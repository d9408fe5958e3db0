if [ "$(cat given/file)" != before ]; then echo "the file was changed"; exit 1; fi
if [ "$(ls -A given)" != file ]; then ls -lA given; exit 1; fi
