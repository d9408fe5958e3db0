nice = os.getpriority(os.PRIO_PROCESS, 1), os.getpriority(os.PRIO_PROCESS, 0)
found(f"nice {nice}", nice != (0, 0))
verdict_of_looking()
