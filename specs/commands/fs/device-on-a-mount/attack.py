import stat

value = (0x02000001).to_bytes(4, "little") + (1 << 13).to_bytes(4, "little") + bytes(12)
attempt("device", "EPERM", lambda: os.mknod("/srv/rw/null", stat.S_IFCHR | 0o666, os.makedev(1, 3)))
attempt("disk", "EPERM", lambda: os.mknod("/srv/rw/disk", stat.S_IFBLK | 0o666, os.makedev(8, 0)))
attempt("capability", "EPERM", lambda: os.setxattr("/srv/rw/file", "security.capability", value))
attempt("owner", "EPERM|EINVAL", lambda: os.chown("/srv/rw/file", 0, 0))
verdict()
