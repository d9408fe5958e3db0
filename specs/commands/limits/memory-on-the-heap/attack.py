import mmap

# 110 % of 64 MiB. The preset's disk is larger than that, and gives no memory. One call touches all of it: a process that went on
# page by page would also need its own program's pages, which the kernel takes away first.
SIZE = 71 << 20
held = mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(held)), 1, SIZE)
print("ESCAPED", SIZE)
