import socket

def open_socket(family, kind, protocol=0):
    socket.socket(family, kind, protocol).close()


attempt("raw", "EPERM", lambda: open_socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
attempt("raw of version 6", "EPERM", lambda: open_socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6))
attempt("whole packets", "EPERM", lambda: open_socket(socket.AF_INET, socket.SOCK_RAW, 255))
verdict()
