import mmap

page = mmap.mmap(-1, 64 << 20)
at = ctypes.addressof(ctypes.c_char.from_buffer(page))

def lock():
    if LIBC.mlock(ctypes.c_void_p(at), ctypes.c_size_t(64 << 20)) != 0:
        raise OSError(ctypes.get_errno(), "")

attempt("mlock", "ENOMEM|EPERM|EAGAIN", lock)
verdict()
