reached = []
for line in open("/proc/mounts"):
    _, where, kind, *_ = line.split()
    if kind in ("cgroup", "cgroup2"):
        reached += [f"{where}/{name}" for name in ("release_agent", "cgroup.procs") if os.access(f"{where}/{name}", os.W_OK)]
look("files: " + " ".join(reached[:3]), reached)
where = scratch().encode()
attempt("cgroup", "EPERM", lambda: call("mount", b"cgroup", where, b"cgroup", 0, b"none,name=of-a-spec"))
attempt("cgroup2", "EPERM", lambda: call("mount", b"cgroup", where, b"cgroup2", 0, None))
verdict()
