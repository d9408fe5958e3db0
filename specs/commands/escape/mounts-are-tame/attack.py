# What hides a file of /proc is the null device.
for line in open("/proc/self/mountinfo").read().splitlines():
    words = line.split()
    where, flags, kind = words[4], words[5].split(","), words[words.index("-") + 1]
    look(f"{where} with suid", "nosuid" not in flags)
    look(f"{where} with devices", "nodev" not in flags and not where.startswith(("/dev", "/proc/")))
verdict()
