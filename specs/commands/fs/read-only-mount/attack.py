path = "/srv/ro/file"
attempt("write", "EROFS|EACCES", lambda: os.close(os.open(path, os.O_WRONLY)))
attempt("append", "EROFS|EACCES", lambda: os.close(os.open(path, os.O_WRONLY | os.O_APPEND)))
attempt("truncate", "EROFS|EACCES", lambda: os.truncate(path, 6))
new = "/srv/ro/new"
attempt("create", "EROFS|EACCES", lambda: os.close(os.open(new, os.O_CREAT | os.O_WRONLY)) or os.unlink(new))
attempt("folder", "EROFS|EACCES", lambda: os.mkdir(new) or os.rmdir(new))
attempt("link", "EROFS|EACCES|EPERM", lambda: os.link(path, new) or os.unlink(new))
attempt("rename", "EROFS|EACCES", lambda: os.rename(path, new) or os.rename(new, path))
attempt("mode", "EROFS|EPERM", lambda: os.chmod(path, 0o666))
attempt("time", "EROFS|EPERM|EACCES", lambda: os.utime(path))
name = "user.of-a-spec"
attempt("attribute", "EROFS|EPERM|EACCES", lambda: os.setxattr(path, name, b"x") or os.removexattr(path, name))
verdict()
