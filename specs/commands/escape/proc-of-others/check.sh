# Nothing happened to the process on the host.
kill "$(cat pid)"
