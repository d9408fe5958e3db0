for what, family, kind, protocol in [
    ("frames", 17, socket.SOCK_RAW, 0), ("cooked frames", 17, socket.SOCK_DGRAM, 0), ("raw packets", 2, socket.SOCK_RAW, 255),
    ("raw TCP", 2, socket.SOCK_RAW, 6), ("raw packets of version 6", 10, socket.SOCK_RAW, 255),
]:
    attempt(what, "EPERM|EACCES|EAFNOSUPPORT", lambda: socket.socket(family, kind, protocol).close())


def through():
    with socket.socket(2, socket.SOCK_STREAM) as one:
        one.setsockopt(socket.SOL_SOCKET, 25, b"lo\0")
        one.settimeout(1)
        try:
            one.connect((PUBLIC, 80))
        except TimeoutError:
            return "silence"


attempt("by a device", "ENETUNREACH|EPERM|silence", through)
verdict()
