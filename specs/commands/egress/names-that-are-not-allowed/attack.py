def by_connection(message):
    with socket.create_connection(NAMES, timeout=PATIENCE) as asking:
        asking.sendall(struct.pack(">H", len(message)) + message)
        length, = struct.unpack(">H", exactly(asking, 2))
        answer = exactly(asking, length)
    return f"{answer[3] & 15} {struct.unpack('>H', answer[6:8])[0]}"


works("an allowed name", "fine 1", lambda: names(question("public.test")))
attempt("another", "no-such-name 0", lambda: names(question("other.test")))
attempt("a secret in labels", "no-such-name 0", lambda: names(question("exfil-c2VjcmV0.other.test")))
attempt("a secret below an allowed name", "no-such-name 0", lambda: names(question("exfil-below.public.test")))
for kind, what in [(28, "AAAA"), (16, "TXT"), (15, "MX"), (10, "NULL"), (255, "ANY"), (12, "PTR"), (65, "HTTPS")]:
    attempt(what, "no-such-name 0", lambda: names(question(f"exfil-{what}.other.test", kind)))
attempt("over a connection", "3 0", lambda: by_connection(question("exfil-stream.other.test")))
attempt("another over a connection", "3 0", lambda: by_connection(question("other.test")))
attempt("by the library", "no-such-name", lambda: resolve("exfil-library.other.test"))
verdict()
