with leaving("a policy"):
    os.sched_setscheduler(1, os.SCHED_BATCH, os.sched_param(0))
verdict_of_leaving()
