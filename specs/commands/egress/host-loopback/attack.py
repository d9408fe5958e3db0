for place in ["127.0.0.1", "127.0.0.2", "0x7f.1", "2130706433", "127.1", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "[::]",
              "loopback.test", "loopback-v6.test", "10.0.0.5", "100.64.0.1", "[64:ff9b::a00:5]"]:
    attempt(place, "private-address|unusable-address|bad-request|host-mismatch",
            lambda: get(f"http://{place}/", host=place))
attempt("a tunnel", "private-address", lambda: connect("127.0.0.1:80"))
attempt("over SOCKS", "not-allowed", lambda: socks_word("127.0.0.1", 80))
attempt("mapped over SOCKS", "not-allowed", lambda: socks_word("::ffff:10.0.0.5", 80))
attempt("as text over SOCKS", "not-allowed|failed", lambda: socks_word("0x7f000001", 80))
attempt("by itself", "ECONNREFUSED", lambda: dial("127.0.0.1", 8282))
attempt("by itself in version 6", "ECONNREFUSED|EADDRNOTAVAIL|ENETUNREACH", lambda: dial("::1", 80))
verdict()
