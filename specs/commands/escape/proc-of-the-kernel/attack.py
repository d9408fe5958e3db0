wall = "EROFS|EACCES|EPERM|ENOENT|empty"


def trigger():
    file = os.open("/proc/sysrq-trigger", os.O_WRONLY)
    # It is covered by a device that takes everything and does nothing.
    return some(b"" if os.fstat(file).st_rdev == os.makedev(1, 3) else b"the trigger")


attempt("sysrq-trigger", wall, trigger)
attempt("kcore", wall, lambda: some(open("/proc/kcore", "rb").read(16)))
attempt("kmsg", wall, lambda: os.close(os.open("/proc/kmsg", os.O_RDONLY | os.O_NONBLOCK)))
attempt("kpagecount", wall, lambda: some(open("/proc/kpagecount", "rb").read(8)))
attempt("timer_list", wall, lambda: some(open("/proc/timer_list", "rb").read(8)))
attempt("keys", wall, lambda: some(open("/proc/keys", "rb").read(8)))
attempt("slabinfo", wall, lambda: some(open("/proc/slabinfo", "rb").read(8)))
attempt("irq", wall, lambda: os.close(os.open("/proc/irq/default_smp_affinity", os.O_WRONLY)))
verdict()
