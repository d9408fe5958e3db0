# Answers everybody who connects; says in the file `at` where it listens.
import os
import socket
import sys

kind = sys.argv[1]
if kind == "tcp":
    server = socket.create_server(("127.0.0.1", 0))
    at = str(server.getsockname()[1])
elif kind == "abstract":
    at = f"of-a-spec-{os.getpid()}"
    server = socket.socket(socket.AF_UNIX)
    server.bind("\0" + at)
else:
    at = os.environ["HOME"] + "/docker.sock"
    server = socket.socket(socket.AF_UNIX)
    server.bind(at)
    os.chmod(at, 0o777)
server.listen()
with open("at.new", "w") as file:
    file.write(at)
os.rename("at.new", "at")
while True:
    server.accept()[0].sendall(b"hello")
