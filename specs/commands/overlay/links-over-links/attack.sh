cd /srv/folder
mkdir a
ln -s .. a/up
ln -s a/up/../outside b
echo changed > two
