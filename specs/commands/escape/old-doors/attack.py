# Of the process that tries, and gone with it.
if platform.machine() == "x86_64":
    NUMBERS.update({"iopl": (172, 0), "ioperm": (173, 0), "modify_ldt": (154, 0), "uselib": (134, 0), "sysfs": (139, 0),
                    "_sysctl": (156, 0)})
    attempt("iopl", "EPERM", lambda: call("iopl", 3))
    attempt("ioperm", "EPERM", lambda: call("ioperm", 0x80, 1, 1))
    attempt("modify_ldt", "EPERM", lambda: call("modify_ldt", 0, ctypes.create_string_buffer(16), 16))
    attempt("uselib", "EPERM", lambda: call("uselib", b"/nowhere/of-a-spec"))
    attempt("sysfs", "EPERM", lambda: call("sysfs", 3) and None)
    attempt("_sysctl", "EPERM", lambda: call("_sysctl", None))
attempt("lookup_dcookie", "EPERM", lambda: call("lookup_dcookie", 0, None, 0))
attempt("nfsservctl", "EPERM", lambda: call("nfsservctl", 0, None, None))
attempt("process_madvise", "EPERM", lambda: call("process_madvise", -1, None, 0, 0, 0))
attempt("lsm_set_self_attr", "EPERM", lambda: call("lsm_set_self_attr", 0, None, 0, 0))
attempt("memfd_secret", "EPERM", lambda: call("memfd_secret", 0))
# What a kernel to come may have, nobody has looked at yet.
NUMBERS["to come"] = (1000, 1000)
attempt("a call to come", "EPERM|ENOSYS", lambda: call("to come"))
verdict()
