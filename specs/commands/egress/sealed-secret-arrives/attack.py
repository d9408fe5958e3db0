key = os.environ.get("GH", "no placeholder")
look("the value inside", "_16C7e42F292c6912E7" in key or key == "no placeholder")
header = f"Authorization: {key}\r\n"
works("in its header", "200 the value came",
        lambda: inside("public.test:443", "public.test", "public.test", "/knows", header))
print("echo", inside("public.test:443", "public.test", "public.test", "/echo", header)[:200])
attempt("elsewhere", "sealed-place", lambda: inside("other.test:443", "other.test", "other.test", "/knows", header))
verdict()
