for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
    del os.environ[name]


def straight(name, address=None, host=None, port=443):
    connection = socket.create_connection((address or name, port), timeout=PATIENCE)
    return over(secure(connection, name), host or name)


stands_for_it = resolve("public.test")
works("by its name", "200 hello", lambda: straight("public.test"))
attempt("another", "no-such-name", lambda: resolve("other.test"))
attempt("another at its address", "TLSV1_UNRECOGNIZED_NAME", lambda: straight("other.test", stands_for_it))
attempt("no name at its address", "TLSV1_UNRECOGNIZED_NAME", lambda: straight(None, stands_for_it, "public.test"))
attempt("nobody's address", "TLSV1_ALERT_ACCESS_DENIED|ECONNREFUSED|ENETUNREACH",
        lambda: straight("public.test", "127.64.7.7"))
attempt("in the clear", "bad-protocol", lambda: word(say(request("/", host="public.test"), to=(stands_for_it, 443))))
attempt("another port", "ECONNREFUSED|ENETUNREACH", lambda: dial(stands_for_it, 22))
attempt("the port in the clear", "host-not-allowed",
        lambda: word(say(request("/", host="public.test"), to=(stands_for_it, 80))))
verdict()
