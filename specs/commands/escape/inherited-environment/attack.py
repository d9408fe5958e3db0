# As the kernel has it: Python changes its own.
there = dict(item.split("=", 1) for item in open("/proc/self/environ").read().split("\0") if item)
more = sorted(set(there) - {"PATH", "HOME", "LANG", "TMPDIR", "ASKED_FOR"})
look("more: " + " ".join(more), more)
look("a value of the host", any("of-the-host" in value for value in there.values()))
look("without what was asked for", there.get("ASKED_FOR") != "1")
verdict()
