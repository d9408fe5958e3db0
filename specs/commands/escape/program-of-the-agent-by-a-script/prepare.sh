chmod 755 again
