NUMBERS["ioprio_get"] = (252, 31)
try:
    turns = call("ioprio_get", 1, 1) >> 13, call("ioprio_get", 1, 0) >> 13
except PermissionError:
    # A kernel without turns at the disk (gVisor's) lets nobody ask for one; nor does it let anybody take one.
    turns = ()
found(f"turns {turns}", 3 in turns)
verdict_of_looking()
