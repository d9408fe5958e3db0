where = scratch().encode()
attempt("chroot", "EPERM", lambda: call("chroot", where))
attempt("chroot to where it is", "EPERM", lambda: call("chroot", b"/"))
verdict()
