# On a machine of one processor there is nothing to see, and nothing to set.
there = os.sched_getaffinity(1), os.sched_getaffinity(0)
found(f"processors {there}", os.cpu_count() > 1 and min(map(len, there)) == 1)
verdict_of_looking()
