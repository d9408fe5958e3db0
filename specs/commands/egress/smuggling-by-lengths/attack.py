def post(rest):
    return word(say(("POST http://public.test/ HTTP/1.1\r\nHost: public.test\r\n" + rest).encode("latin-1")))


attempt("a length and chunks", "bad-request",
        lambda: post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"))
attempt("chunks and a length", "bad-request",
        lambda: post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"))
attempt("two lengths", "bad-request", lambda: post("Content-Length: 3\r\nContent-Length: 5\r\n\r\nabc"))
attempt("a list of lengths", "bad-request", lambda: post("Content-Length: 3, 3\r\n\r\nabc"))
attempt("a length with a sign", "bad-request", lambda: post("Content-Length: +3\r\n\r\nabc"))
attempt("chunks twice", "bad-request", lambda: post("Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"))
attempt("another coding", "bad-request", lambda: post("Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"))
attempt("chunks behind a tab", "bad-request", lambda: post("Transfer-Encoding:\t\u000bchunked\r\n\r\n0\r\n\r\n"))
attempt("a name with a space", "bad-request", lambda: post("Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"))
attempt("a name that looks like it", "bad-request", lambda: post("Content_Length: 3\r\n\r\nabc"))
works("a plain one", "200 hello", lambda: post("Content-Length: 3\r\nConnection: close\r\n\r\nabc"))
verdict()
