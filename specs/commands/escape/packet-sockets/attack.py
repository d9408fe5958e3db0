import socket

def open_socket(family, kind, protocol=0):
    socket.socket(family, kind, protocol).close()


attempt("frames", "EPERM", lambda: open_socket(17, socket.SOCK_RAW, 0x0300))
attempt("datagrams", "EPERM", lambda: open_socket(17, socket.SOCK_DGRAM, 0x0300))
verdict()
