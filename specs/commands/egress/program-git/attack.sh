/usr/bin/git clone -q https://public.test/team/repo.git here && cat here/README
if said=$(/usr/bin/git clone -q https://other.test/team/repo.git there 2>&1); then echo "ESCAPED $(cat there/README)"
else echo "REFUSED $said"; fi
