written = 0
try:
    with open("/dev/shm/file", "wb", buffering=0) as file:
        for _ in range(512):
            written += file.write(bytes(1 << 20))
    print("ESCAPED", written)
except OSError as error:
    print("ENDED BY", errno.errorcode[error.errno])
