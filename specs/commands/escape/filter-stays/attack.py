# Who may not gain privileges may add a filter; one that allows everything must change nothing.
class Step(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32)]

class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("steps", ctypes.POINTER(Step))]

def allow_everything():
    prctl(38, 1)
    steps = (Step * 1)(Step(6, 0, 0, 0x7FFF0000))
    wanted = Filter(1, steps)
    try:
        call("seccomp", 1, 0, ctypes.byref(wanted))
    except OSError:
        pass
    call("unshare", 0x04000000)

attempt("unshare after it", "EPERM", allow_everything)
# That privileges cannot be gained is not undone.
attempt("new privileges", "EINVAL|EPERM", lambda: prctl(38, 0))
look("new privileges can be had", prctl(39, 0) != 1)
verdict()
