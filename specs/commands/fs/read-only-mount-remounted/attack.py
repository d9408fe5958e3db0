MS_REMOUNT, MS_BIND = 32, 4096
attempt("remount", "EPERM", lambda: call("mount", None, b"/srv/ro", None, MS_REMOUNT | MS_BIND, None))
attempt("bind", "EPERM", lambda: call("mount", b"/srv/ro", scratch().encode(), None, MS_BIND, None))
# Clears the flag "read-only": that is a struct of set, clear, propagation and a namespace.
change = (ctypes.c_uint64 * 4)(0, 1, 0, 0)
attempt("mount_setattr", "EPERM|ENOSYS", lambda: call("mount_setattr", -100, b"/srv/ro", 0, ctypes.byref(change), 32))
attempt("unmount", "EPERM", lambda: call("umount2", b"/srv/ro", 2))
verdict()
