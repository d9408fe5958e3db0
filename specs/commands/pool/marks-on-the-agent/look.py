import resource

found(f"nice {os.getpriority(os.PRIO_PROCESS, 0)}", os.getpriority(os.PRIO_PROCESS, 0) != 0)
found(f"processors {os.sched_getaffinity(0)}", len(os.sched_getaffinity(0)) < os.cpu_count())
found(f"policy {os.sched_getscheduler(0)}", os.sched_getscheduler(0) != os.SCHED_OTHER)
found("a limit", resource.getrlimit(resource.RLIMIT_NOFILE)[1] == 77)
verdict_of_looking()
