LIBC.shmat.restype = ctypes.c_void_p
for turn in range(32):
    segment = call("shmget", 0, 8 << 20, 0o1600)
    at = LIBC.shmat(segment, None, 0)
    ctypes.memset(at, 1, 8 << 20)
    LIBC.shmdt(ctypes.c_void_p(at))
print("ESCAPED", turn)
