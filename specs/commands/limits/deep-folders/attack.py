os.chdir(scratch())
told, depth = None, 0
for _ in range(200_000):
    try:
        os.mkdir("d")
        os.chdir("d")
        depth += 1
    except OSError as error:
        told = errno.errorcode[error.errno]
        break
print("ENDED BY", told)
