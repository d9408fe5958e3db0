there = set(os.listdir("/dev/pts")) - {"ptmx"}
found(f"terminals {sorted(there)}", there)
verdict_of_looking()
