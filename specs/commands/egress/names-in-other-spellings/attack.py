works("in capitals", "200 hello", lambda: get("http://PUBLIC.Test/"))
works("with its last dot", "200 hello", lambda: get("http://public.test./"))
works("in capitals in TLS", "200 hello", lambda: inside("Public.TEST:443", "public.test", "public.test"))
for name in ["xpublic.test", "public.test.other.test", "public.testx", "sub.public.test", "public-test", "test"]:
    attempt(name, "host-not-allowed", lambda: get(f"http://{name}/"))
for name in ["public.test%00.other.test", "public.test%2eother.test", "public.test\\@other.test", "public.test#.other.test",
             "public.test;other.test"]:
    attempt(name, "bad-request|host-not-allowed|host-mismatch", lambda: get(f"http://{name}/", host="other.test"))
verdict()
