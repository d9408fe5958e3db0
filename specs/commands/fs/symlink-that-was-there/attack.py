for name in ("absolute", "relative", "of-the-folder/secret"):
    attempt(name, "ENOENT", lambda: open(f"/srv/rw/{name}").read())
verdict()
