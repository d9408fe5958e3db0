attempt("with the right to answer", "EPERM", lambda: call("fanotify_init", 4, 0))
attempt("without", "EPERM", lambda: call("fanotify_init", 0x200, 0))
verdict()
