wanted = (ctypes.c_uint32 * 32)(1, 128)
attempt("of itself", "EPERM|ENOSYS", lambda: call("perf_event_open", ctypes.byref(wanted), 0, -1, -1, 0))
attempt("of a processor", "EPERM|ENOSYS", lambda: call("perf_event_open", ctypes.byref(wanted), -1, 0, -1, 0))
verdict()
