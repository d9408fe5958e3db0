def within(words):
    connection = secure(tunnel("public.test:443"), "public.test")
    if isinstance(connection, str):
        return connection
    connection.sendall(words)
    return word(everything(connection))


for what, words in [
    ("a tunnel", b"CONNECT other.test:443 HTTP/1.1\r\nHost: other.test:443\r\n\r\n"),
    ("a tunnel home", b"CONNECT public.test:443 HTTP/1.1\r\nHost: public.test:443\r\n\r\n"),
    ("a whole URL", request("http://other.test/")),
]:
    attempt(what, "bad-request|host-mismatch", lambda: within(words))
verdict()
