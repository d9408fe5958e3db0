def bodies(*paths):
    asked = "".join(f"GET http://public.test/{path} HTTP/1.1\r\nHost: public.test\r\n\r\n" for path in paths)
    return " ".join(re.findall(r"\r\n\r\n([^H]*)", say(asked.encode()).decode("latin-1")))


works("two answers", "hello closed", lambda: bodies("", "closing"))
attempt("behind one that is longer", "twice closed", lambda: bodies("overlong", "closing"))
verdict()
