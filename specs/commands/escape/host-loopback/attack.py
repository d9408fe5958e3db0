import socket

port = int(staged("at"))
for address in ("127.0.0.1", "0.0.0.0", "::1", "::ffff:127.0.0.1", "::"):
    wall = "ECONNREFUSED|ENETUNREACH|EADDRNOTAVAIL"
    attempt(address, wall, lambda: socket.create_connection((address, port), 5).recv(5) and None)
verdict()
