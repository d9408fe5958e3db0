import socket

def connect(name):
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(5)
    stream.connect("\0" + name)
    return stream.recv(5) and None

attempt("connect", "ECONNREFUSED", lambda: connect(staged("at")))
names = [line.split()[-1] for line in open("/proc/net/unix") if "@of-a-spec" in line]
look("its name", names)
verdict()
