with leaving("nice"):
    os.setpriority(os.PRIO_PROCESS, 1, 7)
with leaving("nice of all of a user"):
    os.setpriority(os.PRIO_USER, os.getuid(), 7)
verdict_of_leaving()
