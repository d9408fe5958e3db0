import socket

MSG_ERRQUEUE = 0x2000
WAYS = [
    (socket.AF_INET, socket.IPPROTO_UDP, (socket.SOL_IP, 11), "127.0.0.1"),
    (socket.AF_INET6, socket.IPPROTO_UDP, (socket.IPPROTO_IPV6, 25), "::1"),
]
kept, seen = [], 0
for family, protocol, option, address in WAYS:
    try:
        one = socket.socket(family, socket.SOCK_DGRAM, protocol)
        one.bind((address, 0))
    except OSError:
        # A machine without this protocol.
        continue
    # A resolver sets it, and may give up where that fails.
    one.setsockopt(*option, 1)
    for _ in range(400):
        try:
            one.sendto(b"x", (address, 9))
        except ConnectionRefusedError:
            pass
    kept.append(one)
    try:
        while True:
            one.recvmsg(1, 512, MSG_ERRQUEUE | socket.MSG_DONTWAIT)
            seen += 1
    except BlockingIOError:
        pass
# Each is a packet of about 800 bytes, in each of the sockets that a command may have.
print("ESCAPED" if seen or not kept else "HELD", len(kept), seen)
