with leaving("a processor"):
    os.sched_setaffinity(1, {min(os.sched_getaffinity(0))})
verdict_of_leaving()
