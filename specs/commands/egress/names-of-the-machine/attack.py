for name in ["localhost", "a.localhost"]:
    attempt(name, "ECONNREFUSED", lambda: socket.create_connection((name, 8282), timeout=PATIENCE).close())
attempt("by its name", "private-address|own-listener", lambda: get("http://localhost:8282/"))
attempt("by a name below", "private-address|own-listener", lambda: get("http://x.localhost:80/"))
attempt("with a dot", "private-address|own-listener", lambda: get("http://localhost.:80/"))
verdict()
