attempt("another name", "no-such-name 0", lambda: names(question("other.test")))
attempt("two questions", "malformed 0", lambda: names(question("exfil-two.other.test").replace(
    struct.pack(">6H", 0x4711, 0x0100, 1, 0, 0, 0), struct.pack(">6H", 0x4711, 0x0100, 2, 0, 0, 0))))
attempt("an answer", "silence",
        lambda: names(struct.pack(">6H", 1, 0x8180, 1, 0, 0, 0) + question("a.test")[12:], within=1))
attempt("a pointer to itself", "malformed 0",
        lambda: names(struct.pack(">6H", 1, 0x0100, 1, 0, 0, 0) + b"\xc0\x0c\0\1\0\1"))
attempt("half", "silence", lambda: names(question("public.test")[:9], within=1))
attempt("an update", "not-known 0",
        lambda: names(struct.pack(">6H", 1, 0x2800, 1, 0, 0, 0) + question("public.test")[12:]))
works("an allowed name", "fine 1", lambda: names(question("public.test")))
verdict()
