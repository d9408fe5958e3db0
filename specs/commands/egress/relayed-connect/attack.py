def within(target, words):
    connection = tunnel(target)
    if isinstance(connection, str):
        return connection
    connection.sendall(words)
    connection.shutdown(socket.SHUT_WR)
    return word(everything(connection))


further = b"CONNECT other.test:443 HTTP/1.1\r\nHost: other.test:443\r\n\r\n"
attempt("a tunnel in a tunnel", "alert-112", lambda: within("public.test:443", further))
attempt("a request in a tunnel", "alert-112", lambda: within("public.test:80", request("http://other.test/")))
attempt("a path in a tunnel", "alert-112", lambda: within("public.test:80", request("/", host="public.test")))
attempt("SOCKS in a tunnel", "alert-112", lambda: within("public.test:80", b"\x05\x01\x00"))
attempt("the proxy by the proxy", "private-address|host-not-allowed", lambda: get("http://127.0.0.1:3128/"))
attempt("a tunnel to the proxy", "private-address|host-not-allowed", lambda: connect("127.0.0.1:3128"))
attempt("after an answer", "host-not-allowed", lambda: word(b"HTTP" + say(
    b"GET http://public.test/ HTTP/1.1\r\nHost: public.test\r\n\r\n" + further).split(b"HTTP")[-1]))
verdict()
