stands_for_it = resolve("public.test")
works("the address of the name inside", "200 hello", lambda: over(socks(stands_for_it, 80), "public.test"))
for address in [PUBLIC, OTHER, PUBLIC_V6, "127.0.0.1", "10.0.0.5", "::1", "::ffff:10.0.0.5", "127.64.9.9", "0.0.0.0"]:
    attempt(address, "not-allowed", lambda: socks_word(address, 80))
attempt("our listener", "not-allowed", lambda: socks_word("127.0.0.1", 8282))
verdict()
