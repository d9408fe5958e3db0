cd /srv/folder
rm -r sub
ln -s ../outside sub
echo planted > sub/file 2>/dev/null || true
rm one
ln -s sub/file one
