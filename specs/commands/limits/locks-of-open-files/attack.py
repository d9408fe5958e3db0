import fcntl
import mmap
import struct

F_OFD_SETLK = 37
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def hide(file):
    """Maps an open file and closes it: only the mapping keeps it then."""
    if LIBC.mmap(None, mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_SHARED, file, 0) == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "a mapping")
    os.close(file)


count, said = 0, "none"
try:
    while count < 20_000:
        file = os.open(f"/tmp/hidden-{count}", os.O_RDWR | os.O_CREAT, 0o600)
        for number in range(1000):
            fcntl.fcntl(file, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 2 * number, 1, 0))
            count += 1
        hide(file)
except OSError as error:
    said = errno.errorcode[error.errno]
print("ESCAPED" if count > 10_000 else "HELD", "ranges", count, said, flush=True)

# One lock for each open file, by children that end: the files stay with their parent, open or mapped.
whole, said = 0, "none"
try:
    while whole < 50_000:
        # The kernel walks along all locks of a file for each new one.
        path = f"/tmp/whole-{whole}"
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        files = [os.open(path, os.O_RDONLY) for _ in range(500)]
        ended, done = os.pipe()
        child = os.fork()
        if child == 0:
            for file in files:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH)
                    os.write(done, b"x")
                except OSError as error:
                    os.write(done, bytes([error.errno]))
                    break
            os._exit(0)
        os.waitpid(child, 0)
        os.close(done)
        told = os.read(ended, 1000)
        os.close(ended)
        whole += told.count(b"x")
        if told[-1:] != b"x":
            raise OSError(told[-1], "a lock")
        for file in files:
            hide(file)
except OSError as error:
    said = errno.errorcode[error.errno]
print("ESCAPED" if whole > 40_000 else "HELD", "whole", whole, said)
