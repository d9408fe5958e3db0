name = os.uname().nodename.encode()
attempt("sethostname", "EPERM", lambda: call("sethostname", name, len(name)))
attempt("setdomainname", "EPERM", lambda: call("setdomainname", b"(none)", 6))
verdict()
