import stat

where = scratch()
for what, kind, device in (("null", stat.S_IFCHR, os.makedev(1, 3)), ("memory", stat.S_IFCHR, os.makedev(1, 1)),
                           ("disk", stat.S_IFBLK, os.makedev(8, 0))):
    attempt(what, "EPERM", lambda: os.mknod(f"{where}/{what}", kind | 0o600, device) or os.unlink(f"{where}/{what}"))
verdict()
