for path in ["two-lengths", "length-and-chunks", "gibberish", "huge-header", "many-headers", "hang-up"]:
    attempt(path, "502", lambda: get(f"http://public.test/{path}")[:3])
works("the next one", "200 hello", lambda: get("http://public.test/"))
verdict()
