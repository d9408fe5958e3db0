def post(rest):
    return word(say(("POST http://public.test/ HTTP/1.1\r\nHost: public.test\r\n" + rest).encode("latin-1")))


attempt("a bare LF", "bad-request", lambda: post("Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n"))
attempt("more than the chunk", "bad-request", lambda: post("Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n"))
attempt("a size with a prefix", "bad-request",
        lambda: post("Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n"))
attempt("an extension", "bad-request", lambda: post("Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n"))
attempt("a negative size", "bad-request", lambda: post("Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n"))
attempt("a size that is too large", "bad-request",
        lambda: post("Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello\r\n0\r\n\r\n"))
works("a plain one", "200 hello", lambda: post("Content-Length: 3\r\nConnection: close\r\n\r\nabc"))
verdict()
