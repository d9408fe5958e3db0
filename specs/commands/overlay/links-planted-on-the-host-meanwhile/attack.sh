cd /srv/folder
echo planted > one
echo planted > sub/new
echo planted > sub/deep
