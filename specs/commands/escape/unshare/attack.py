KINDS = {"user": 0x10000000, "mount": 0x00020000, "pid": 0x20000000, "net": 0x40000000, "uts": 0x04000000,
         "ipc": 0x08000000, "cgroup": 0x02000000, "time": 0x00000080}

for kind, flag in KINDS.items():
    attempt(kind, "EPERM", lambda: call("unshare", flag))
attempt("user and mount", "EPERM", lambda: call("unshare", KINDS["user"] | KINDS["mount"]))
verdict()
