# Inner, outer, count: none of the outer ones may be 0.
for name in ("uid_map", "gid_map"):
    for line in open(f"/proc/self/{name}").read().splitlines():
        inner, outer, count = map(int, line.split())
        look(f"{name} of {inner}", outer == 0 or count > 1)
verdict()
