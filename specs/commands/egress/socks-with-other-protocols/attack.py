def speak(port, words):
    connection = socks("public.test", port)
    if isinstance(connection, str):
        return connection
    connection.sendall(words)
    connection.shutdown(socket.SHUT_WR)
    came = everything(connection)
    return word(came) if came else "closed"


attempt("plain HTTP to 443", "bad-protocol", lambda: speak(443, request("/", host="public.test")))
attempt("bytes", "closed", lambda: speak(8443, b"\x00\x01\x02\x03 secret"))
attempt("mail", "bad-request", lambda: speak(80, b"EHLO secret.test\r\n\r\n"))
attempt("another Host", "host-mismatch", lambda: speak(80, request("/", host="other.test")))
attempt("a greeting that is cut", "alert-112", lambda: speak(443, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"))
verdict()
