attempt("another host", "host-not-allowed", lambda: connect("other.test:443"))
attempt("a private one", "host-not-allowed", lambda: connect("10.0.0.5:443"))
verdict()
