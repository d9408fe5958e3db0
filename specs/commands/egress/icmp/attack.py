ECHO = struct.pack(">BBHHH", 8, 0, 0xf7ff, 0, 0)


def echo(kind):
    with socket.socket(socket.AF_INET, kind, socket.IPPROTO_ICMP) as sending:
        sending.settimeout(1)
        sending.sendto(ECHO, (PUBLIC, 0))


attempt("raw", "EPERM|EACCES", lambda: echo(socket.SOCK_RAW))
attempt("by the kernel", "EPERM|EACCES|ENETUNREACH|EPROTONOSUPPORT", lambda: echo(socket.SOCK_DGRAM))
verdict()
