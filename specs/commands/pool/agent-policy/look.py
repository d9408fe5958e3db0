policies = os.sched_getscheduler(1), os.sched_getscheduler(0)
found(f"policies {policies}", policies != (os.SCHED_OTHER, os.SCHED_OTHER))
verdict_of_looking()
