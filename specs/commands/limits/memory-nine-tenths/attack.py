import mmap
import time

# 90 % of 128 MiB, of which the interpreter itself holds about 8 MiB.
SIZE = 107 << 20


def touch(size):
    held = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(held)), 1, size)
    return held


def one():
    return bool(touch(SIZE)) and "held"


def many():
    reading, writing = os.pipe()
    children = []
    for _ in range(5):
        child = os.fork()
        if child == 0:
            touch(SIZE // 5 - (1 << 20))
            os.write(writing, b"x")
            time.sleep(60)
            os._exit(0)
        children.append(child)
    os.close(writing)
    held = sum(len(os.read(reading, 1)) for _ in children)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return "held" if held == len(children) else f"{held} of them"


def files():
    left = SIZE
    paths = [f"{where}/file" for where in ("/work", "/tmp", "/var/tmp", "/dev/shm")]
    for path in paths:
        with open(path, "wb", buffering=0) as file:
            for _ in range(16):
                left -= file.write(bytes(1 << 20))
    touch(left)
    for path in paths:
        os.unlink(path)
    return "held"


def memfd():
    held = os.memfd_create("of-a-spec")
    for _ in range(SIZE >> 20):
        os.write(held, bytes(1 << 20))
    return "held"


for way in (one, many, files, memfd):
    told = outcome(way)
    print("HELD" if told == "held" else "ENDED", way.__name__, told, flush=True)
