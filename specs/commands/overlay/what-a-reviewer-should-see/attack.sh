cd /srv/folder
mkdir -p .git/hooks .github/workflows
printf '#!/bin/sh\necho hooked\n' > .git/hooks/pre-commit
chmod +x .git/hooks/pre-commit
echo 'on: push' > .github/workflows/steal.yml
echo 'all:; echo made' > Makefile
printf 'plain \033[2Jtext\n' > colours
: > "$(printf 'name\033[2J')"
echo changed > one
