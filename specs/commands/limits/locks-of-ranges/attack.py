import fcntl
import struct
import time

# One file for each 1 024 locks: the kernel walks along all of a file's for each new one. They stop at 8 MiB, which is not much.
EACH, MOST = 1024, 50_000


def lock(file, command, kind, start):
    fcntl.fcntl(file, command, struct.pack("hhqqi4x", kind, os.SEEK_SET, start, 1, 0))


def open_one(number):
    return os.open(f"/tmp/locked-{number}", os.O_RDWR | os.O_CREAT, 0o600)


# Whoever locks and lets go as often as they like never has many.
file = open_one("often")
for _ in range(10_000):
    lock(file, fcntl.F_SETLK, fcntl.F_WRLCK, 0)
    lock(file, fcntl.F_SETLK, fcntl.F_UNLCK, 0)

# Half of them by a child which then waits: those of all processes count together.
ready, tell = os.pipe()
child = os.fork()
count, files, said = 0, [], "none"
try:
    while count < (MOST // 2 if child == 0 else MOST):
        files.append(open_one(f"{os.getpid()}-{len(files)}"))
        if child != 0 and count == 0:
            os.read(ready, 1)
        for number in range(EACH):
            lock(files[-1], fcntl.F_SETLK, fcntl.F_WRLCK, 2 * number)
            count += 1
except OSError as error:
    said = errno.errorcode[error.errno]
if child == 0:
    os.write(tell, b"x")
    time.sleep(1000)
print("ESCAPED" if count + MOST // 2 > 40_000 else "HELD", count, said, flush=True)
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
# Closing a file lets go of its locks whatever the bound says.
for one in files:
    os.close(one)
time.sleep(0.5)
lock(file, fcntl.F_SETLK, fcntl.F_WRLCK, 0)
print("AGAIN")
