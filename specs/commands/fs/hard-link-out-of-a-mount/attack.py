wall = "EXDEV|EPERM|EACCES|EROFS"
other = "/srv/stage/other"
attempt("program", wall, lambda: os.link("/usr/bin/env", "/srv/rw/program") or os.unlink("/srv/rw/program"))
attempt("other mount", wall, lambda: os.link(other, "/srv/rw/other"))
attempt("rename", wall, lambda: os.rename(other, "/srv/rw/moved") or os.rename("/srv/rw/moved", other))
descriptor = f"/proc/self/fd/{os.open(other, os.O_RDONLY)}"
attempt("by descriptor", wall, lambda: os.link(descriptor, "/srv/rw/third", follow_symlinks=True))
attempt("the other way", wall, lambda: os.rename("/srv/rw/file", "/srv/stage/file"))
verdict()
