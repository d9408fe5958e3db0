works("the same host", "200 hello", lambda: inside("public.test:443", "public.test", "public.test"))
attempt("a Host of another", "host-mismatch", lambda: inside("public.test:443", "public.test", "other.test"))
attempt("an address", "host-mismatch", lambda: inside("public.test:443", "public.test", OTHER))
attempt("a port of another", "host-mismatch", lambda: inside("public.test:443", "public.test", "public.test:8443"))
attempt("a URL of another", "host-mismatch|bad-request",
        lambda: inside("public.test:443", "public.test", "public.test", "https://other.test/"))
attempt("no Host", "bad-request", lambda: over(secure(tunnel("public.test:443"), "public.test"), "", more="Host:\r\n"))
attempt("a server name of another", "TLSV1_UNRECOGNIZED_NAME",
        lambda: inside("public.test:443", "other.test", "other.test"))
verdict()
