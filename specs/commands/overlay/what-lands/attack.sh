cd /srv/folder
echo changed > one
rm two
mkdir -p new/deeper
echo added > new/deeper/added
ln -s one inner
chmod 700 sub/deep
cp /bin/true suid
chmod 4755 suid 2>/dev/null || true
mkfifo pipe
mkdir sticky
chmod 2775 sticky 2>/dev/null || true
