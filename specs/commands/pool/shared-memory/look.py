for kind in ("shm", "sem", "msg"):
    with open(f"/proc/sysvipc/{kind}") as file:
        lines = file.read().splitlines()[1:]
    found(f"{kind} {lines}", lines)
found("files", os.listdir("/dev/shm"))
verdict_of_looking()
