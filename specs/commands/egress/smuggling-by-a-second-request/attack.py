def statuses(words):
    return " ".join(re.findall(r"HTTP/1\.1 (\d+)", say(words).decode("latin-1")))


first = b"POST http://public.test/status/201 HTTP/1.1\r\nHost: public.test\r\n"
second = b"GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n"
ours = b"GET http://public.test/ HTTP/1.1\r\nHost: public.test\r\nConnection: close\r\n\r\n"
hidden = b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(second) + second
works("one behind the other", "201 200", lambda: statuses(first + b"Content-Length: 2\r\n\r\nhi" + ours))
works("one in a body", "201", lambda: statuses(first + hidden))
attempt("another host behind a length", "201 403", lambda: statuses(first + b"Content-Length: 2\r\n\r\nhi" + second))
attempt("another host behind chunks", "201 403",
        lambda: statuses(first + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n" + second))
attempt("another host behind nothing", "201 403", lambda: statuses(first + b"Content-Length: 0\r\n\r\n" + second))
attempt("a tunnel behind it", "201 403",
        lambda: statuses(first + b"Content-Length: 0\r\n\r\nCONNECT other.test:443 HTTP/1.1\r\nHost: other.test:443\r\n\r\n"))
attempt("another host behind a request for no answer", "200 403",
        lambda: statuses(ours.replace(b"GET", b"HEAD", 1).replace(b"Connection: close\r\n", b"") + second))
verdict()
