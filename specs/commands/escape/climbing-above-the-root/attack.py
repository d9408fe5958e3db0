secret = staged("secret-at")
up = "../" * 64
root = os.open("/", os.O_RDONLY)
for what, path in (("by dots", up + secret), ("by /proc/self/root", "/proc/self/root/" + up + secret),
                   ("by /proc/self/cwd", "/proc/self/cwd/" + up + secret),
                   ("by a descriptor", f"/proc/self/fd/{root}/{up}{secret}")):
    attempt(what, "ENOENT", lambda: open(path).read())
attempt("by openat", "ENOENT", lambda: os.open(up + secret, os.O_RDONLY, dir_fd=root))
verdict()
