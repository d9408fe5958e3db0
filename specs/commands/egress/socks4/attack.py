def four(words):
    answer = say(words)
    return {b"\x00\x5b": "rejected", b"\x00\x5a": "granted"}.get(answer[:2], "no word")


attempt("an address", "rejected", lambda: four(b"\x04\x01\x00\x50" + socket.inet_aton(PUBLIC) + b"\0"))
attempt("a name", "rejected", lambda: four(b"\x04\x01\x00\x50\0\0\0\1\0public.test\0"))
attempt("to listen", "rejected", lambda: four(b"\x04\x02\x00\x50" + socket.inet_aton(PUBLIC) + b"\0"))
verdict()
