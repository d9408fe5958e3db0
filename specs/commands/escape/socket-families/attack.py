import socket

def open_socket(family, kind, protocol=0):
    socket.socket(family, kind, protocol).close()


def of_every_kind(family):
    """What becomes of each kind, in a word where it is the same of all."""
    told = []
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            open_socket(family, kind)
            told.append("went through")
        except OSError as error:
            told.append(errno.errorcode[error.errno])
    return " ".join(sorted(set(told)))


# UNIX, INET, INET6 and NETLINK are the four.
there = []
for family in set(range(64)) - {1, 2, 10, 16}:
    # The filter answers before the kernel looks whether it has such a family.
    told = outcome(lambda: of_every_kind(family))
    if told != "EPERM":
        there.append(f"{family}: {told}")
look("others: " + ", ".join(there[:5]), there)
attempt("cryptography of the kernel", "EPERM", lambda: open_socket(38, socket.SOCK_SEQPACKET))
attempt("pairs", "EPERM", lambda: [end.close() for end in socket.socketpair(30, socket.SOCK_STREAM)] and None)
verdict()
