print("READ", open("/srv/ro/file").read().strip())
attempt("write", "EROFS|EACCES", lambda: os.close(os.open("/srv/ro/file", os.O_WRONLY)))
attempt("above", "ENOENT", lambda: os.listdir("/srv/ro/../closed") and None)
verdict()
