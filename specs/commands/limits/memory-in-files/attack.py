path = scratch() + "/file"
written = 0
try:
    with open(path, "wb", buffering=0) as file:
        for _ in range(64):
            written += file.write(bytes(1 << 20))
    print("ESCAPED", written)
except OSError as error:
    print("ENDED BY", errno.errorcode[error.errno], "within" if written <= 17 << 20 else "above", "the limit")
