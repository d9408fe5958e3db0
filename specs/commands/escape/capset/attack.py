head = (ctypes.c_uint32 * 2)(0x20080522, 0)
all_of_them = (ctypes.c_uint32 * 6)(1 << 21, 1 << 21, 0, 0, 0, 0)
attempt("capset", "EPERM", lambda: call("capset", ctypes.byref(head), ctypes.byref(all_of_them)))
# PR_CAP_AMBIENT_RAISE of CAP_SYS_CHROOT, which whoever has it may also inherit.
def ambient():
    bits = (ctypes.c_uint32 * 6)(1 << 18, 1 << 18, 1 << 18, 0, 0, 0)
    call("capset", ctypes.byref(head), ctypes.byref(bits))
    prctl(47, 2, 18)

attempt("ambient", "EPERM", ambient)
# Securebits: that root is nobody special is not undone, nor that it is.
attempt("securebits", "EPERM", lambda: prctl(28, 0))
verdict()
