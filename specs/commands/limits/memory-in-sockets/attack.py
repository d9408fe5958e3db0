import socket


def send():
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
    print("ESCAPED" if unread > 64 << 20 else "HELD", len(pairs), unread, flush=True)


# With cgroup v1 sending ends at a limit of its own; with v2 the buffers are memory, and the process is killed at its limit.
child = os.fork()
if child == 0:
    try:
        # It is the one to be killed, and not the process that tells of it.
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
        send()
        os._exit(0)
    finally:
        os._exit(1)
_, status = os.waitpid(child, 0)
if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
    print("HELD by the end of its process")
elif status != 0:
    sys.exit("the attack failed")
