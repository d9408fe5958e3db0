MS_REMOUNT, MS_BIND, MS_MOVE, MS_SHARED = 32, 4096, 8192, 1 << 20
where = scratch().encode()
attempt("remount", "EPERM", lambda: call("mount", None, b"/", None, MS_REMOUNT | MS_BIND, None))
attempt("move", "EPERM", lambda: call("mount", where, where, None, MS_MOVE, None))
attempt("share", "EPERM", lambda: call("mount", None, where, None, MS_SHARED, None))
# Nothing is mounted there: who may unmount is told EINVAL.
attempt("unmount", "EPERM", lambda: call("umount2", where, 0))
verdict()
