works("in the clear", "200 hello", lambda: get("http://proxied.test/"))
works("in TLS", "200 hello", lambda: inside("proxied.test:443", "proxied.test", "proxied.test"))
attempt("another", "host-not-allowed", lambda: get("http://other.test/"))
attempt("another in a tunnel", "host-not-allowed", lambda: connect("other.test:443"))
attempt("another server name", "TLSV1_UNRECOGNIZED_NAME",
        lambda: inside("proxied.test:443", "other.test", "other.test"))
attempt("the operator's proxy itself", "host-not-allowed", lambda: get("http://127.0.0.1:3129/"))
attempt("by itself", "ECONNREFUSED", lambda: dial("127.0.0.1", 3129))
verdict()
