for folder in ("/", "/usr", "/usr/bin", "/usr/lib", "/etc"):
    attempt(folder, "EROFS|EACCES", lambda: os.close(os.open(f"{folder}/of-a-spec", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            or os.unlink(f"{folder}/of-a-spec"))
attempt("a program", "EROFS|EACCES", lambda: os.close(os.open("/usr/bin/env", os.O_WRONLY)))
attempt("its mode", "EROFS|EPERM", lambda: os.chmod("/usr/bin/env", os.stat("/usr/bin/env").st_mode & 0o7777))
verdict()
