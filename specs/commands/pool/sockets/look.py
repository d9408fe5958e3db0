import socket

def answers(family, address):
    stream = socket.socket(family)
    try:
        stream.connect(address)
        return True
    except OSError:
        return False

found("a port", answers(socket.AF_INET, ("127.0.0.1", 4711)))
found("a name", answers(socket.AF_UNIX, "\0of-a-spec"))
with open("/proc/net/tcp") as file:
    found("a line", "1267" in file.read())
verdict_of_looking()
