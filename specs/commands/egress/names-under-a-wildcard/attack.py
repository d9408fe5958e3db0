def inside_only(name):
    return "inside" if resolve(name).startswith("127.64.") else "asked"


works("a name of the wildcard", "inside",
        lambda: "inside" if get("http://sub.public.test/").startswith("200") else "no")
for number in range(20):
    attempt(f"label {number}", "inside", lambda: inside_only(f"exfil-wild-{number}.public.test"))
attempt("above it", "no-such-name", lambda: resolve("public.test"))
verdict()
