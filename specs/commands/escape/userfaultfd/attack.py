attempt("call", "EPERM|ENOSYS", lambda: call("userfaultfd", os.O_CLOEXEC))
attempt("for itself only", "EPERM|ENOSYS", lambda: call("userfaultfd", os.O_CLOEXEC | 1))
attempt("device", "ENOENT|EACCES", lambda: os.close(os.open("/dev/userfaultfd", os.O_RDWR)))
verdict()
