echo changed > /srv/folder/one
rm /srv/folder/two
exit 3
