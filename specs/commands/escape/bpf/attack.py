# A map of one entry, gone with the descriptor.
wanted = (ctypes.c_uint32 * 32)(2, 4, 4, 1)
attempt("map", "EPERM|ENOSYS", lambda: call("bpf", 0, ctypes.byref(wanted), ctypes.sizeof(wanted)))
attempt("nothing", "EPERM|ENOSYS", lambda: call("bpf", 9999, None, 0))
verdict()
