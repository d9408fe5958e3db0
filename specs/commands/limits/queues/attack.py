def queue():
    library = ctypes.CDLL("librt.so.1", use_errno=True)
    if library.mq_open(b"/of-a-spec", os.O_CREAT | os.O_RDWR, 0o600, None) < 0:
        raise OSError(ctypes.get_errno(), "")

attempt("mq_open", "EMFILE|EPERM|ENOSYS|EACCES|ENOSPC", queue)
verdict()
