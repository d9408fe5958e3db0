context = ctypes.c_ulong(0)
attempt("io_setup", "ENOSYS", lambda: call("io_setup", 1, ctypes.byref(context)))
for name in ("io_submit", "io_cancel", "io_getevents", "io_pgetevents", "io_destroy"):
    attempt(name, "ENOSYS", lambda: call(name, 0, 0, 0))
verdict()
