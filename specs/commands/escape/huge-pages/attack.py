import mmap

SIZE, HUGE_MAPPING, HUGE_FILE, HUGE_SEGMENT = 2 << 20, 0x40000, 0x4, 0o4000
attempt("mmap", "EPERM", lambda: mmap.mmap(-1, SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | HUGE_MAPPING) and None)
attempt("memfd_create", "EPERM", lambda: os.memfd_create("of-a-spec", HUGE_FILE) and None)


def segment():
    # It is removed at once: it would outlive the program.
    call("shmctl", call("shmget", 0, SIZE, 0o1600 | HUGE_SEGMENT), 0, None)


attempt("shmget", "EPERM", segment)
verdict()
