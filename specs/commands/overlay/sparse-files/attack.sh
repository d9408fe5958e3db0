cd /srv/folder
truncate -s 1G sparse
echo changed > one
