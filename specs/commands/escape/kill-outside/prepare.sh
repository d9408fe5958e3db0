# Somebody on the host, with a secret in the environment. Ended by check.sh.
env SECRET_OF_THE_HOST="$(pwd)" /bin/sleep 60 </dev/null >/dev/null 2>&1 &
echo $! > pid
