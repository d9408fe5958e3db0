with leaving("a segment"):
    call("shmget", 0x5EC, 4096, 0o1666)
with leaving("a semaphore"):
    if LIBC.semget(0x5EC, 1, 0o1666) < 0:
        raise OSError(ctypes.get_errno(), "semget")
with leaving("a queue"):
    if LIBC.msgget(0x5EC, 0o1666) < 0:
        raise OSError(ctypes.get_errno(), "msgget")
with leaving("a file"):
    with open("/dev/shm/of-a-spec", "w") as file:
        file.write("of the first lease")
verdict_of_leaving()
