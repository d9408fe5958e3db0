attempt("init_module", "EPERM", lambda: call("init_module", b"none", 4, b""))
attempt("finit_module", "EPERM", lambda: call("finit_module", -1, b"", 0))
attempt("delete_module", "EPERM", lambda: call("delete_module", b"of-a-spec", os.O_NONBLOCK))
verdict()
