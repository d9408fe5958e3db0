works("a sound one", "200 hello", lambda: inside("public.test:443", "public.test", "public.test"))
for name in ["expired", "early", "wrong-name", "other-authority", "self-signed", "plain-text", "closes"]:
    attempt(name, "502", lambda: inside(f"{name}.test:443", f"{name}.test", f"{name}.test")[:3])
verdict()
