works("what fits", '200 {"a": [1, 2]}', lambda: get("http://public.test/json"))
attempt("another path", "path-not-allowed", lambda: get("http://public.test/"))
attempt("another method", "method-not-allowed",
        lambda: get("http://public.test/json", method="POST", more="Content-Length: 0\r\n"))
attempt("a method of one's own", "method-not-allowed|bad-request", lambda: get("http://public.test/json", method="get"))
for path in ["/open/../echo", "/open/%2e%2e/echo", "/json/../echo", "/open/..%2fecho", "/open/%2E%2E/echo", "/jsonx", "//json"]:
    attempt(path, "path-not-allowed|ambiguous-path", lambda: get(f"http://public.test{path}"))
attempt("TLS", "hidden-request", lambda: connect("public.test:443"))
verdict()
