LIBC.shmat.restype = ctypes.c_void_p
# 9 segments of 8 MiB are 72 MiB, more than 110 % of 64 MiB.
for turn in range(9):
    segment = call("shmget", 0, 8 << 20, 0o1600)
    at = LIBC.shmat(segment, None, 0)
    ctypes.memset(at, 1, 8 << 20)
    LIBC.shmdt(ctypes.c_void_p(at))
print("ESCAPED", turn)
