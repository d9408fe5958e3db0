import socket

listener = socket.create_server(("127.0.0.1", 0))
piece = bytes(1 << 20)
pairs, unread = [], 0
# It stops at three times the limit, so that it hurts nobody where nothing holds it.
while len(pairs) < 400 and unread < 192 << 20:
    sender = socket.create_connection(listener.getsockname())
    pairs.append((sender, listener.accept()[0]))
    sender.setblocking(False)
    try:
        while True:
            unread += sender.send(piece)
    except BlockingIOError:
        pass
    except OSError as error:
        if error.errno not in (errno.ENOBUFS, errno.ENOMEM):
            raise
print("ESCAPED" if unread > 64 << 20 else "HELD", len(pairs), unread)
