import resource

now = resource.getrlimit(resource.RLIMIT_CORE)
limit = (ctypes.c_uint64 * 2)(0, now[1] if now[1] >= 0 else 2**64 - 1)
higher = (ctypes.c_uint64 * 2)(2**64 - 1, 2**64 - 1)
RLIMIT_CORE = 4
attempt("lower, by setrlimit", "EPERM", lambda: call("setrlimit", RLIMIT_CORE, ctypes.byref(limit)))
attempt("lower, by prlimit", "EPERM", lambda: call("prlimit64", 0, RLIMIT_CORE, ctypes.byref(limit), None))
attempt("higher", "EPERM", lambda: call("prlimit64", 0, RLIMIT_CORE, ctypes.byref(higher), None))
verdict()
