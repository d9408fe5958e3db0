PRIO_PROCESS, PRIO_USER = 0, 2
with leaving("nice"):
    os.setpriority(PRIO_PROCESS, 1, 7)
with leaving("nice of all of a user"):
    os.setpriority(PRIO_USER, os.getuid(), 7)
with leaving("a processor"):
    os.sched_setaffinity(1, {min(os.sched_getaffinity(0))})
with leaving("a policy"):
    os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))
with leaving("a limit"):
    limit = (ctypes.c_uint64 * 2)(77, 77)
    call("prlimit64", 1, 7, ctypes.byref(limit), None)
with leaving("a priority of the disk"):
    call("ioprio_set", 1, 1, 3 << 13)
verdict_of_leaving()
