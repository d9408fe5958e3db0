PROCESS, SESSION = -2, -3
attempt("add_key", "EPERM|ENOSYS", lambda: call("add_key", b"user", b"of-a-spec", b"x", 1, PROCESS))
attempt("keyctl", "EPERM|ENOSYS", lambda: call("keyctl", 0, SESSION, 0))
# Without a key of that name it says so, where one may ask.
attempt("request_key", "EPERM|ENOSYS", lambda: call("request_key", b"user", b"of-a-spec", None, 0))
verdict()
