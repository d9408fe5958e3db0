with leaving("a turn"):
    call("ioprio_set", 1, 1, 3 << 13)
verdict_of_leaving()
