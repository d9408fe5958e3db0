import time

def now():
    moment = time.time_ns()
    return (ctypes.c_long * 2)(moment // 10**9, moment % 10**9)

attempt("clock_settime", "EPERM", lambda: call("clock_settime", 0, ctypes.byref(now())))
attempt("settimeofday", "EPERM", lambda: call("settimeofday", None, ctypes.byref((ctypes.c_int * 2)(99999, 0))))
# A length of ticks that no kernel has: whoever may set one is told EINVAL.
wanted = (ctypes.c_long * 32)(0x4000)
attempt("adjtimex", "EPERM", lambda: call("adjtimex", ctypes.byref(wanted)) and None)
verdict()
