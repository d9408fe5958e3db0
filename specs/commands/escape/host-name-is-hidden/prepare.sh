uname -n > name
