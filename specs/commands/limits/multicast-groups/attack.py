import socket
import struct

LOOPBACK = socket.if_nametoindex("lo")
FOUR, SIX = socket.inet_aton("239.1.2.3"), socket.inet_pton(socket.AF_INET6, "ff02::1:2:3")
WAYS = {
    "IPv4 group": (socket.AF_INET, socket.SOL_IP, 35, struct.pack("=4s4si", FOUR, bytes(4), LOOPBACK)),
    "IPv4 source": (socket.AF_INET, socket.SOL_IP, 39, FOUR + socket.inet_aton("127.0.0.1") * 2),
    "any IPv4 group": (
        socket.AF_INET,
        socket.SOL_IP,
        42,
        struct.pack("=I4xHH4s120x", LOOPBACK, socket.AF_INET, 0, FOUR),
    ),
    "IPv6 group": (socket.AF_INET6, socket.IPPROTO_IPV6, 20, SIX + struct.pack("=i", LOOPBACK)),
    "any IPv6 group": (
        socket.AF_INET6,
        socket.IPPROTO_IPV6,
        42,
        struct.pack("=I4xHHI16s4x100x", LOOPBACK, socket.AF_INET6, 0, 0, SIX),
    ),
}


def join(family, level, option, value):
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        one.setsockopt(level, option, value)


for name, way in WAYS.items():
    attempt(name, "ENODEV|EAFNOSUPPORT", lambda way=way: join(*way))
verdict()
