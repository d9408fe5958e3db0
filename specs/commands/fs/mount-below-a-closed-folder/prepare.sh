mkdir -p closed/given
echo before > closed/given/file
chmod 644 closed/given/file
chmod 755 closed/given
chmod 700 closed
