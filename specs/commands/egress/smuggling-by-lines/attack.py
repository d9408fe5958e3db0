def post(rest):
    return word(say(("POST http://public.test/ HTTP/1.1\r\nHost: public.test\r\n" + rest).encode("latin-1")))


attempt("a header that goes on", "bad-request", lambda: post("X: y\r\n Content-Length: 3\r\n\r\nabc"))
attempt("a header that begins with a tab", "bad-request", lambda: post("X: y\r\n\tTransfer-Encoding: chunked\r\n\r\n"))
attempt("a bare LF", "bad-request", lambda: post("X: y\nContent-Length: 3\r\n\r\nabc"))
attempt("a bare CR", "bad-request", lambda: post("X: y\rContent-Length: 3\r\n\r\nabc"))
attempt("a NUL", "bad-request", lambda: post("X: \u0000\r\n\r\n"))
attempt("a header without a name", "bad-request", lambda: post(": y\r\n\r\n"))
attempt("a header without a colon", "bad-request", lambda: post("Content-Length\r\n\r\n"))
attempt("all lines bare", "bad-request", lambda: word(say(b"GET http://public.test/ HTTP/1.1\nHost: public.test\n\n")))
works("a plain one", "200 hello", lambda: post("Content-Length: 3\r\nConnection: close\r\n\r\nabc"))
verdict()
