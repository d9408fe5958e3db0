import fcntl
import pty
import termios

def push(request):
    master, slave = pty.openpty()
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    call("ioctl", slave, request, ctypes.c_char_p(b"x"))

TIOCSTI, TIOCLINUX = 0x5412, 0x541C
attempt("TIOCSTI", "EPERM", lambda: push(TIOCSTI))
attempt("TIOCLINUX", "EPERM", lambda: push(TIOCLINUX))
# The kernel reads the lower half of the word; so must the filter.
attempt("TIOCSTI with high bits", "EPERM", lambda: push(TIOCSTI | 1 << 32))
attempt("TIOCLINUX with high bits", "EPERM", lambda: push(TIOCLINUX | 1 << 62))
verdict()
