# Put in front of every attack of `specs/commands`: one try at a time, and one verdict at the end.
#
# A try is refused only by the word of the wall (an errno that the case names); anything else, also another error, says
# that it got further than it may. Each try runs in a process of its own, so that what one of them wins, another does
# not have. Nothing here changes anything that outlives the program.
import ctypes
import errno
import os
import platform
import signal
import sys
import tempfile

LIBC = ctypes.CDLL(None, use_errno=True)

# By name: the number on x86_64, and that on aarch64.
NUMBERS = {
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "capset": (126, 91), "chroot": (161, 51),
    "clock_settime": (227, 112), "clone": (56, 220), "clone3": (435, 435), "delete_module": (176, 106),
    "fanotify_init": (300, 262), "fchmodat2": (452, 452), "finit_module": (313, 273), "fsmount": (432, 432),
    "fsopen": (430, 430), "fspick": (433, 433), "init_module": (175, 105), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "io_uring_setup": (425, 425), "ioctl": (16, 29), "ioprio_set": (251, 30),
    "kcmp": (312, 272), "kexec_file_load": (320, 294), "kexec_load": (246, 104), "keyctl": (250, 219),
    "lookup_dcookie": (212, 18), "mbind": (237, 235), "migrate_pages": (256, 238), "mount": (165, 40),
    "mount_setattr": (442, 442), "move_mount": (429, 429), "move_pages": (279, 239), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "open_tree": (428, 428), "perf_event_open": (298, 241), "personality": (135, 92),
    "pidfd_getfd": (438, 438), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "pivot_root": (155, 41),
    "prlimit64": (302, 261), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "ptrace": (101, 117),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "reboot": (169, 142), "request_key": (249, 218),
    "rt_sigqueueinfo": (129, 138), "set_mempolicy": (238, 237), "setdomainname": (171, 162), "sethostname": (170, 161),
    "setns": (308, 268), "setrlimit": (160, 164), "settimeofday": (164, 170), "swapoff": (168, 225),
    "swapon": (167, 224), "syslog": (103, 116), "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282),
    "vhangup": (153, 58), "clock_adjtime": (305, 266), "adjtimex": (159, 171), "nfsservctl": (180, 42),
    "shmget": (29, 194), "shmctl": (31, 195), "shmat": (30, 196), "mknodat": (259, 33), "open_tree_attr": (467, 467),
    "io_setup": (206, 0), "io_destroy": (207, 1), "io_getevents": (208, 4), "io_submit": (209, 2), "io_cancel": (210, 3),
    "io_pgetevents": (333, 292), "process_madvise": (440, 440), "mq_open": (240, 180), "seccomp": (317, 277), "landlock_create_ruleset": (444, 444),
    "statmount": (457, 457), "listmount": (458, 458), "lsm_set_self_attr": (460, 460), "memfd_secret": (447, 447),
}

# Errnos that are the word of a wall whatever a case names, with `|` between them: those of a kernel that does not have a
# call at all. Which backend has such a kernel is said in `specs/backends`.
ALSO = ""

refused = []
won = []


def call(name, *arguments):
    """Asks the kernel itself, as code without a library would. Texts are bytes; the rest are numbers and pointers."""
    number = NUMBERS[name][0 if platform.machine() == "x86_64" else 1]
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    words += [ctypes.c_long(0)] * (6 - len(words))
    LIBC.syscall.restype = ctypes.c_long
    result = LIBC.syscall(ctypes.c_long(number), *words)
    if result < 0:
        told = ctypes.get_errno()
        raise OSError(told, os.strerror(told))
    return result


def prctl(what, first, second=0):
    """Asks the kernel about this process."""
    result = LIBC.prctl(what, ctypes.c_ulong(first), ctypes.c_ulong(second), ctypes.c_ulong(0), ctypes.c_ulong(0))
    if result < 0:
        told = ctypes.get_errno()
        raise OSError(told, os.strerror(told))
    return result


def some(found):
    """What could be read, but has nothing in it, tells nothing."""
    return "went through" if found else "empty"


def outcome(do):
    """What becomes of a try, in a process of its own: an errno by its name, `SIGNAL n`, or that it went through."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            try:
                told = do() or "went through"
            except OSError as error:
                told = errno.errorcode.get(error.errno, str(error.errno))
            os.write(writing, str(told).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return f"SIGNAL {os.WTERMSIG(status)}"
    return told or "no word"


def attempt(what, wall, do):
    """Tries; `wall` names the words of the wall, with `|` between them."""
    told = outcome(do)
    (refused if told in f"{wall}|{ALSO}".split("|") else won).append(f"{what} {told}")


def look(what, is_reached):
    """Something that has no errno: it is within reach, or it is not."""
    (won if is_reached else refused).append(what)


def verdict():
    """The one line that says how it went."""
    if won:
        print("ESCAPED " + ", ".join(won))
    else:
        print("REFUSED " + ", ".join(refused))


def staged(name):
    """A text that `prepare.sh` left for the attack."""
    with open(f"/srv/stage/{name}") as file:
        return file.read().strip()


def scratch():
    """A fresh folder that the attack may write to."""
    return tempfile.mkdtemp()
