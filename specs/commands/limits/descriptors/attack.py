held = []
try:
    while len(held) < 200_000:
        held.append(os.dup(0))
    print("ESCAPED", len(held))
except OSError as error:
    print("ENDED BY", errno.errorcode[error.errno])
