held = []
for _ in range(64):
    held.append(bytearray(os.urandom(1) * (8 << 20)))
print("ESCAPED", sum(map(len, held)))
