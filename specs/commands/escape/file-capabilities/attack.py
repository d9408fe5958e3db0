path = scratch() + "/program"
os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o755))
# CAP_NET_RAW, permitted and effective, in the form of the second revision.
value = (0x02000001).to_bytes(4, "little") + (1 << 13).to_bytes(4, "little") + bytes(12)
attempt("security.capability", "EPERM", lambda: os.setxattr(path, "security.capability", value))
attempt("trusted", "EPERM", lambda: os.setxattr(path, "trusted.of-a-spec", b"x"))
verdict()
