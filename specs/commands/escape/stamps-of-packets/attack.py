import socket

SO_TIMESTAMPING, SO_TIMESTAMPING_NEW, OF_WHAT_IS_SENT = 37, 65, 0b10010


def ask(option):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.setsockopt(socket.SOL_SOCKET, option, OF_WHAT_IS_SENT)


attempt("stamps", "EPERM", lambda: ask(SO_TIMESTAMPING))
attempt("new stamps", "EPERM", lambda: ask(SO_TIMESTAMPING_NEW))
verdict()
