where = scratch()
written, told = 0, None
for number in range(4096):
    try:
        with open(f"{where}/{number}", "wb", buffering=0) as file:
            written += file.write(bytes(64 << 10))
    except OSError as error:
        told = errno.errorcode[error.errno]
        break
print("ENDED BY", told, "within" if written <= 17 << 20 else "above", "the limit")
