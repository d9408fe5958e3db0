KINDS = {"user": 0x10000000, "mount": 0x00020000, "pid": 0x20000000, "net": 0x40000000, "uts": 0x04000000,
         "ipc": 0x08000000, "cgroup": 0x02000000, "time": 0x00000080}

def clone3(flags):
    wanted = (ctypes.c_uint64 * 11)(flags, 0, 0, 0, signal.SIGCHLD)
    child = call("clone3", ctypes.byref(wanted), 64)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)

for kind, flag in KINDS.items():
    attempt(kind, "ENOSYS", lambda: clone3(flag))
verdict()
