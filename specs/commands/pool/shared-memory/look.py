def is_there(get):
    """Whether there is something by the name under which it was left, made by nobody who asks."""
    if get() >= 0:
        return True
    if ctypes.get_errno() != errno.ENOENT:
        raise OSError(ctypes.get_errno(), "nobody says whether it is there")
    return False


for kind, get in (("shm", lambda: LIBC.shmget(0x5EC, 0, 0)), ("sem", lambda: LIBC.semget(0x5EC, 0, 0)),
                  ("msg", lambda: LIBC.msgget(0x5EC, 0))):
    found(f"{kind} by its name", is_there(get))
    # A kernel that has no lists of them (gVisor's) is asked by the name alone.
    if os.path.exists("/proc/sysvipc"):
        with open(f"/proc/sysvipc/{kind}") as file:
            lines = file.read().splitlines()[1:]
        found(f"{kind} {lines}", lines)
found("files", os.listdir("/dev/shm"))
verdict_of_looking()
