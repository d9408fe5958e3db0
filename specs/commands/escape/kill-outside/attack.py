pid = int(staged("pid"))
# Signal 0 does nothing but ask whether one may.
attempt("kill", "ESRCH", lambda: os.kill(pid, 0))
attempt("pidfd", "ESRCH", lambda: call("pidfd_send_signal", call("pidfd_open", pid, 0), 0, None, 0))
attempt("group", "ESRCH", lambda: os.killpg(os.getpgid(pid), 0))
attempt("priority", "ESRCH", lambda: os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid)))
attempt("affinity", "ESRCH", lambda: os.sched_getaffinity(pid) and None)
verdict()
