writable = []
for folder, below, files in os.walk("/sys"):
    if folder.count("/") >= 5:
        below.clear()
    for name in files:
        path = f"{folder}/{name}"
        if not os.path.islink(path) and os.access(path, os.W_OK):
            writable.append(path)
    if len(writable) > 3:
        break
look("writable files: " + " ".join(writable[:3]), writable)
for path in ("/sys/firmware", "/sys/kernel/security", "/sys/kernel/debug", "/sys/fs/cgroup", "/sys/block", "/sys/module"):
    attempt(path, "ENOENT|EACCES|empty", lambda: some(os.listdir(path)))
verdict()
