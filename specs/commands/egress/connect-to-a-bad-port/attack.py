for port in [22, 25, 53, 110, 6667, 8443, 65535]:
    attempt(str(port), "bad-port|host-not-allowed", lambda: connect(f"public.test:{port}"))
    attempt(f"{port} in the clear", "bad-port|host-not-allowed", lambda: get(f"http://public.test:{port}/"))
    attempt(f"{port} over SOCKS", "not-allowed", lambda: socks_word("public.test", port))
for target in ["public.test", "public.test:", "public.test:0", "public.test:65536", "public.test:https", "public.test:443/x",
               "http://public.test:443", "user@public.test:443", ":443", "public.test:+443"]:
    attempt(target, "bad-request", lambda: connect(target))
verdict()
