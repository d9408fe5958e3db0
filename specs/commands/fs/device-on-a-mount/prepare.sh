mkdir given
echo before > given/file
# The user of a sandbox is nobody of the host, so the folder is everybody's.
chmod 777 given
chmod 666 given/file
