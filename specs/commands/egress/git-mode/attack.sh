/usr/bin/git clone -q https://github.com/team/repo.git here && cat here/README
for url in https://public.test/team/repo.git http://github.com/team/repo.git https://github.com:8443/team/repo.git; do
    if said=$(/usr/bin/git clone -q "$url" there 2>&1); then echo "ESCAPED $said"; else echo "REFUSED $said"; fi
done
if said=$(GIT_SSH_COMMAND="ssh -o BatchMode=yes" /usr/bin/git clone -q git://github.com/team/repo.git there 2>&1)
then echo "ESCAPED $said"; else echo "REFUSED git://"; fi
