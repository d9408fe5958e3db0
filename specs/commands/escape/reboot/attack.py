# With a magic number that is none: whoever may is told EINVAL. Nothing can happen.
attempt("reboot", "EPERM", lambda: call("reboot", 1, 2, 3, None))
attempt("kexec_load", "EPERM", lambda: call("kexec_load", 0, 0, None, 0xFFFF0000))
attempt("kexec_file_load", "EPERM", lambda: call("kexec_file_load", -1, -1, 0, None, 0xFFFF))
verdict()
