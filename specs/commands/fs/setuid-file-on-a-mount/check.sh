if [ -n "$(find given -type f -perm /6000)" ]; then echo "a marked file is left"; find given -ls; exit 1; fi
