def cut(words):
    connection = tunnel("public.test:443")
    if isinstance(connection, str):
        return connection
    connection.sendall(words)
    connection.shutdown(socket.SHUT_WR)
    return word(everything(connection))


attempt("nothing", "no word", lambda: cut(b""))
attempt("half of a greeting", "alert-112", lambda: cut(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a secret"))
attempt("a record that is too long", "alert-112", lambda: cut(b"\x16\x03\x01\xff\xff" + b"x" * 70_000))
attempt("another record", "alert-112", lambda: cut(b"\x17\x03\x03\x00\x05hello"))
waiting = [tunnel("public.test:443") for _ in range(50)]
look("fifty that wait", any(isinstance(one, str) for one in waiting))
works("another beside fifty that wait", "200 hello", lambda: inside("public.test:443", "public.test", "public.test"))
verdict()
