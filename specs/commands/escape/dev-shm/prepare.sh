mktemp /dev/shm/of-a-spec.XXXXXX > at
