import socket
import time

with leaving("listeners"):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
        stream = socket.create_server(("127.0.0.1", 4711))
        named = socket.socket(socket.AF_UNIX)
        named.bind("\0of-a-spec")
        named.listen()
        null = os.open("/dev/null", os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        os.write(writing, b"x")
        time.sleep(60)
        os._exit(0)
    os.close(writing)
    if not os.read(reading, 1):
        raise OSError("nobody listens")
verdict_of_leaving()
