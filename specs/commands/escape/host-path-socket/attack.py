import socket

def connect(path):
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(5)
    stream.connect(path)
    return stream.recv(5) and None

attempt("connect", "ENOENT", lambda: connect(staged("at")))
for path in ("/run/docker.sock", "/var/run/docker.sock", "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket"):
    attempt(path, "ENOENT|EACCES", lambda: connect(path))
verdict()
