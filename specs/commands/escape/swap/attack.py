attempt("swapon", "EPERM", lambda: call("swapon", b"/nowhere/of-a-spec", 0))
attempt("swapoff", "EPERM", lambda: call("swapoff", b"/nowhere/of-a-spec"))
verdict()
