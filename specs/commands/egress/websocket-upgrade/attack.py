def opened(host, to="websocket"):
    words = f"GET http://{host}/socket HTTP/1.1\r\nHost: {host}\r\nUpgrade: {to}\r\nConnection: Upgrade\r\n\r\n"
    return word(say(words.encode()))


works("to an allowed host", "101 now we talk", lambda: opened("public.test"))
attempt("to another", "host-not-allowed", lambda: opened("other.test"))
attempt("to HTTP/2", "502", lambda: opened("public.test", "h2c")[:3])
attempt("to TLS", "502", lambda: opened("public.test", "TLS/1.0")[:3])
verdict()
