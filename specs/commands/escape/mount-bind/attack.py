MS_BIND, MS_REC = 4096, 16384
where = scratch().encode()
attempt("bind", "EPERM", lambda: call("mount", b"/usr", where, None, MS_BIND, None))
attempt("rbind", "EPERM", lambda: call("mount", b"/", where, None, MS_BIND | MS_REC, None))
verdict()
