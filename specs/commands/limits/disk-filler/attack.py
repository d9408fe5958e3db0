# Every directory of the sandbox's own, in pieces: together they take between 90 % and 110 % of 16 MiB.
written, told = 0, []
for where in ("/work", "/tmp", "/var/tmp", "/dev/shm"):
    for number in range(1024):
        try:
            with open(f"{where}/{number}", "wb", buffering=0) as file:
                written += file.write(bytes(64 << 10))
        except OSError as error:
            told.append(errno.errorcode[error.errno])
            break
words = " ".join(sorted(set(told)))
print("ENDED BY", words, "at the limit" if 0.9 <= written / (16 << 20) <= 1.1 else f"ESCAPED {written}")
