works("what fits", '200 {"a": [1, 2]}', lambda: inside("public.test:443", "public.test", "public.test", "/json"))
attempt("another path", "path-not-allowed", lambda: inside("public.test:443", "public.test", "public.test", "/echo"))
attempt("a way around", "path-not-allowed|ambiguous-path",
        lambda: inside("public.test:443", "public.test", "public.test", "/open/%2e%2e/echo"))
verdict()
