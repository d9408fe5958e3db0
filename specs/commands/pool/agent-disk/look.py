NUMBERS["ioprio_get"] = (252, 31)
turns = call("ioprio_get", 1, 1) >> 13, call("ioprio_get", 1, 0) >> 13
found(f"turns {turns}", 3 in turns)
verdict_of_looking()
