import fcntl
import select
import socket
import struct

MOST, UNSENT = 200, 0x5411
listeners, said = [], "none"
try:
    while len(listeners) < MOST:
        listeners.append(socket.create_server(("127.0.0.1", 0), backlog=4096))
except OSError as error:
    said = errno.errorcode[error.errno]
# How many wait at one of them, and how much each holds there: what was sent and is not on this side any more.
listeners[0].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
clients = [socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) for _ in range(MOST)]
for client in clients:
    client.connect_ex(listeners[0].getsockname())
_, waiting, _ = select.select([], clients, [], 1)
sent = 0
try:
    while sent < 4 << 20:
        sent += waiting[0].send(bytes(1 << 16))
except BlockingIOError:
    pass
held = sent - struct.unpack("i", fcntl.ioctl(waiting[0], UNSENT, bytes(4)))[0]
total = len(listeners) * len(waiting) * held
print("ESCAPED" if total > 128 << 20 else "HELD", len(listeners), len(waiting), held, said)
