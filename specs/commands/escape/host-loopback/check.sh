kill "$(cat pid)"
