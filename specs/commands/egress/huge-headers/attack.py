huge = "X: " + "x" * 40_000 + "\r\n"
many = "".join(f"X-{number}: y\r\n" for number in range(200))
attempt("one header", "too-large", lambda: get("http://public.test/", more=huge))
attempt("many headers", "too-large", lambda: get("http://public.test/", more=many))
attempt("a URL", "too-large", lambda: get("http://public.test/" + "x" * 40_000))
attempt("a tunnel", "too-large",
        lambda: word(say(f"CONNECT public.test:443 HTTP/1.1\r\nHost: public.test:443\r\n{huge}\r\n".encode())))
attempt("without an end", "too-large", lambda: word(say(b"GET http://public.test/ HTTP/1.1\r\nX: " + b"x" * 200_000)))
works("the next one", "200 hello", lambda: get("http://public.test/"))
verdict()
