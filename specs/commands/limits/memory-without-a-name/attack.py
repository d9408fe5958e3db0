held = []
for turn in range(32):
    descriptor = os.memfd_create(f"of-a-spec-{turn}")
    for _ in range(8):
        os.write(descriptor, bytes(1 << 20))
    held.append(descriptor)
print("ESCAPED", len(held))
