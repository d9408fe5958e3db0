# Each lower than anybody would have it, and none so low that nothing can be begun.
for what, kind in (("descriptors", 7), ("files", 1), ("signals", 11)):
    with leaving(what):
        limit = (ctypes.c_uint64 * 2)()
        call("prlimit64", 1, kind, None, ctypes.byref(limit))
        limit[0] = 77
        call("prlimit64", 1, kind, ctypes.byref(limit), None)
verdict_of_leaving()
