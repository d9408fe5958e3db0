cd /srv/folder
echo "changed inside" > one
echo "changed inside" > two
