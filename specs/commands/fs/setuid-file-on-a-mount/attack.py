import shutil
import stat

path = "/srv/rw/shell"
shutil.copyfile("/bin/sh", path)

def marked(make):
    make()
    return "went through" if os.stat(path).st_mode & (stat.S_ISUID | stat.S_ISGID) else "no"

attempt("chmod", "EPERM", lambda: marked(lambda: os.chmod(path, 0o4755)))
attempt("fchmod", "EPERM", lambda: marked(lambda: os.fchmod(os.open(path, os.O_RDONLY), 0o6755)))
attempt("fchmodat2", "EPERM|ENOSYS", lambda: marked(lambda: call("fchmodat2", -100, path.encode(), 0o4755, 0)))
verdict()
