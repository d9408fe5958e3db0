works("by its name", "200 hello", lambda: word(say(request("/", host="public.test"), to=("public.test", 80))))
for place in [PUBLIC, OTHER, "8.8.8.8", "10.0.0.5"]:
    for port in [80, 443, 22]:
        attempt(f"{place}:{port}", "ENETUNREACH", lambda: dial(place, port))
verdict()
