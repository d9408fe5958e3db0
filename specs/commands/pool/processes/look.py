others = set(filter(str.isdigit, os.listdir("/proc"))) - {"1", str(os.getpid())}
found(f"processes {sorted(others)}", others)
verdict_of_looking()
