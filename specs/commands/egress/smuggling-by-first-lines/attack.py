for line in ["GET / HTTP/1.1", "GET * HTTP/1.1", "GET //public.test/ HTTP/1.1", "GET https://public.test/ HTTP/1.1",
             "GET ftp://public.test/ HTTP/1.1", "GET file:///etc/passwd HTTP/1.1", "GET http:public.test HTTP/1.1",
             "GET http:/public.test/ HTTP/1.1", "GET http:///public.test/ HTTP/1.1",
             r"GET http:\\public.test/ HTTP/1.1",
             "GET  http://public.test/ HTTP/1.1", "GET http://public.test/ x HTTP/1.1", "GET http://public.test/ HTTP/2.0",
             "GET http://public.test/", "G<T http://public.test/ HTTP/1.1", "PRI * HTTP/2.0"]:
    attempt(line, "bad-request|host-mismatch", lambda: word(say(f"{line}\r\nHost: public.test\r\n\r\n".encode())))
verdict()
