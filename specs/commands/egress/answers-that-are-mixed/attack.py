for name, why in [
    ("mixed", "private-address"), ("mixed-v6", "metadata-address"), ("private", "private-address"),
    ("metadata", "metadata-address"), ("loopback", "private-address"), ("loopback-v6", "private-address"),
    ("any", "unusable-address"), ("mapped", "private-address"), ("nat64", "private-address"),
    ("alias", "private-address"), ("bare-alias", "private-address"),
]:
    attempt(name, why, lambda: get(f"http://{name}.test/"))
    attempt(f"{name} in a tunnel", why, lambda: connect(f"{name}.test:443"))
works("a fine one", "200 hello", lambda: get("http://fine-alias.test/"))
verdict()
