import mmap

# Up to 12 MiB of files in each of the sandbox's own directories, and anonymous memory up to 110 % of 64 MiB.
left = 71 << 20
for where in ("/work", "/tmp", "/var/tmp", "/dev/shm"):
    with open(f"{where}/file", "wb", buffering=0) as file:
        for _ in range(12):
            try:
                left -= file.write(bytes(1 << 20))
            except OSError as error:
                # Where each directory is a file system of its own, some are smaller.
                assert error.errno == errno.ENOSPC, error
                break
assert left < 40 << 20, left
held = mmap.mmap(-1, left, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(held)), 1, left)
print("ESCAPED")
