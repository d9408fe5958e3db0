# The same folder twice: whoever may pivot is told that it is busy.
attempt("pivot_root", "EPERM", lambda: call("pivot_root", b"/", b"/"))
attempt("pivot_root to .", "EPERM", lambda: call("pivot_root", b".", b"."))
verdict()
