import resource

for name in ("NOFILE", "NPROC", "CORE", "MEMLOCK", "MSGQUEUE", "NICE", "RTPRIO"):
    kind = getattr(resource, f"RLIMIT_{name}", {"NICE": 13, "RTPRIO": 14}.get(name))
    hard = resource.getrlimit(kind)[1]
    if hard == resource.RLIM_INFINITY:
        won.append(f"{name} has no limit")
        continue
    limit = (ctypes.c_uint64 * 2)(hard + 1, hard + 1)
    attempt(name, "EPERM", lambda: call("prlimit64", 0, kind, ctypes.byref(limit), None))
verdict()
