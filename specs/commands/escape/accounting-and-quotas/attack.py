attempt("acct", "EPERM", lambda: call("acct", b"/nowhere/of-a-spec"))
# Q_GETINFO of what is no device.
attempt("quotactl", "EPERM", lambda: call("quotactl", 0x80000500, b"/nowhere/of-a-spec", 0, None))
attempt("quotactl_fd", "EPERM|ENOSYS", lambda: call("quotactl_fd", -1, 0x80000500, 0, None))
verdict()
