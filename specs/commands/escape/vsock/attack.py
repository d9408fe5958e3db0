import socket

def open_socket(family, kind, protocol=0):
    socket.socket(family, kind, protocol).close()


attempt("stream", "EPERM", lambda: open_socket(40, socket.SOCK_STREAM))
attempt("datagrams", "EPERM", lambda: open_socket(40, socket.SOCK_DGRAM))
attempt("device", "ENOENT|EACCES", lambda: os.close(os.open("/dev/vsock", os.O_RDONLY)))
verdict()
