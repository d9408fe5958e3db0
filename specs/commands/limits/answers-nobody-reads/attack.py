import socket

sockets, said = [], "none"
try:
    while len(sockets) < 500:
        # Not bound yet: the kernel lists it nowhere.
        sockets.append(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
except OSError as error:
    said = errno.errorcode[error.errno]
print("ESCAPED" if len(sockets) > 300 else "HELD", len(sockets), said)
