cd /srv/folder
echo changed > one
rm two
mv sub moved
echo added > added
chmod 777 .
touch -d "2021-01-01" one
ls
