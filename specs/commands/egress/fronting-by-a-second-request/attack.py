def second(host):
    connection = secure(tunnel("public.test:443"), "public.test")
    if isinstance(connection, str):
        return connection
    connection.sendall(b"GET / HTTP/1.1\r\nHost: public.test\r\n\r\n")
    first = b""
    while not first.endswith(b"hello"):
        first += connection.recv(1) or b"hello"
    return over(connection, host)


works("to the same host", "200 hello", lambda: second("public.test"))
attempt("to another", "host-mismatch", lambda: second("other.test"))
verdict()
