cd /srv/folder
ln -s /etc/passwd absolute
ln -s ../outside/file relative
ln -s sub/../../outside around
echo changed > one
