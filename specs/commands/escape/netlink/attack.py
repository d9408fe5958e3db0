import socket

def open_socket(family, kind, protocol=0):
    socket.socket(family, kind, protocol).close()


for what, protocol in (("sockets of others", 4), ("policy of IPsec", 6), ("audit", 9), ("filter", 12),
                       ("events of devices", 15), ("generic", 16), ("crypto", 21)):
    attempt(what, "EPERM", lambda: open_socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol))
verdict()
