line = b"x" * 65536
for _ in range(256):
    for stream in (1,):
        os.write(stream, line)
