for place, port in [(PUBLIC, 4242), (PUBLIC, 53), (PUBLIC, 443), (OTHER, 4242), ("255.255.255.255", 4242)]:
    attempt(f"{place}:{port}", "ENETUNREACH|EACCES", lambda: dial(place, port, socket.SOCK_DGRAM))
attempt("version 6", "ENETUNREACH|EADDRNOTAVAIL", lambda: dial(PUBLIC_V6, 4242, socket.SOCK_DGRAM))


def sent(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        sending.sendto(b"secret-by-datagram", (address, 4242))


attempt("without connecting", "ENETUNREACH", lambda: sent(PUBLIC))
verdict()
