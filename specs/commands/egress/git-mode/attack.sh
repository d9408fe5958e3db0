. /srv/git.sh
reads https://github.com
for url in https://public.test/team/repo.git http://github.com/team/repo.git https://github.com:8443/team/repo.git; do
    refused "$url" git clone -q "$url" there
done
if git clone -q git://github.com/team/repo.git there; then echo "ESCAPED"; else echo "REFUSED git://"; fi
