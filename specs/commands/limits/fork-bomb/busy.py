# Forks until it may not, in every process; all of them wait, and all are gone with the sandbox.
import errno
import os
import time

parent = os.getpid()
began = time.monotonic()
told, count = None, 0
# Long enough to do harm; and where forks are slow, until the end was met.
while time.monotonic() < began + (1.5 if told else 12):
    try:
        os.fork()
    except OSError as error:
        if told is None and os.getpid() == parent:
            # The sandbox has its own processes, and a few of whoever made it.
            count = sum(name.isdigit() for name in os.listdir("/proc"))
        told = errno.errorcode[error.errno]
        time.sleep(0.01)
if os.getpid() == parent:
    print("ENDED BY" if count <= 40 else f"ESCAPED {count}, ended by", told, flush=True)
os._exit(0)
