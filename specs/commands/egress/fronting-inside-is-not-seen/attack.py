works("a Host of another", "200 hello", lambda: inside("public.test:443", "public.test", "other.test"))
attempt("a server name of another", "TLSV1_UNRECOGNIZED_NAME",
        lambda: inside("public.test:443", "other.test", "other.test"))
verdict()
