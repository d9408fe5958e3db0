# Put in front of what one lease leaves and what the next one looks for in `specs/commands/pool`, after `attempt.py`.
import contextlib

FOLDERS = [folder for folder in ("/work", "/tmp", "/var/tmp", "/dev/shm") if os.access(folder, os.W_OK)]

left = []
not_left = []
seen = []


@contextlib.contextmanager
def leaving(what):
    """Leaves something; what a wall refuses is not left, and the next lease has nothing to find."""
    try:
        yield
        left.append(what)
    except OSError as error:
        not_left.append(f"{what} {errno.errorcode.get(error.errno, error)}")


def verdict_of_leaving():
    print("LEFT " + ", ".join(left) if left else "REFUSED", *not_left)


def found(what, is_there):
    if is_there:
        seen.append(what)


def verdict_of_looking():
    print("FOUND " + "; ".join(seen) if seen else "NOTHING")
