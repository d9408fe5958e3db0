where = scratch().encode()
for kind in (b"proc", b"sysfs", b"devtmpfs", b"debugfs", b"overlay"):
    attempt(kind.decode(), "EPERM", lambda: call("mount", kind, where, kind, 0, None))
verdict()
