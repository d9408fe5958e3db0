attempt("BIND", "no-such-command", lambda: socks_word("public.test", 80, 2))
attempt("UDP ASSOCIATE", "no-such-command", lambda: socks_word("0.0.0.0", 0, 3))
attempt("another", "no-such-command", lambda: socks_word("public.test", 80, 0xf0))
verdict()
