import mmap

# mov eax, 310 (unshare); mov ebx, CLONE_NEWUTS; int 0x80; ret
code = bytes.fromhex("53b836010000bb00000004cd805bc3")

def enter():
    if platform.machine() != "x86_64":
        return call("unshare", 0x04000000) and None
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    told = run()
    if told < 0:
        raise OSError(-told, "")

# Either the filter answers, or it ends who asked.
attempt("unshare", "EPERM|ENOSYS|SIGNAL 31", enter)
verdict()
