import stat

where = scratch()

def marked(name, make):
    path = f"{where}/{name}"
    make(path)
    return "went through" if os.stat(path).st_mode & (stat.S_ISUID | stat.S_ISGID) else "no"

def plain(path):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o755))
    return path

def made(descriptor):
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "")
    return descriptor

os.umask(0)
wall = "EPERM|no"
attempt("chmod u+s", "EPERM", lambda: marked("a", lambda path: os.chmod(plain(path), 0o4755)))
attempt("chmod g+s", "EPERM", lambda: marked("b", lambda path: os.chmod(plain(path), 0o2755)))
attempt("fchmod", "EPERM", lambda: marked("c", lambda path: os.fchmod(os.open(plain(path), os.O_RDONLY), 0o4755)))
attempt("fchmodat2", "EPERM|ENOSYS", lambda: marked("d", lambda path: call("fchmodat2", -100, plain(path).encode(), 0o4755, 0)))
attempt("open", wall, lambda: marked("e", lambda path: os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o4755))))
attempt("creat", wall, lambda: marked("f", lambda path: os.close(made(LIBC.creat(path.encode(), 0o6755)))))
attempt("mknod", wall, lambda: marked("g", lambda path: os.mknod(path, 0o4755 | stat.S_IFREG)))
verdict()
