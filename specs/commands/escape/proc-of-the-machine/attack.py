# What runtimes and tools read of the machine: SECURITY.md says why each stays.
NEEDED = {"cgroups", "cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version"}
# Of the sandbox's own namespaces.
OWN = {"mounts", "net", "self", "sys", "sysvipc", "thread-self"}
# The case `proc-of-the-kernel` tries them: without a wall, reading one waits or takes messages away.
ELSEWHERE = {"kcore", "kmsg", "sysrq-trigger"}
# Counters of the machine among the settings of the kernel.
COUNTERS = ("fs/aio-nr", "fs/dentry-negative", "fs/dentry-state", "fs/file-nr", "fs/inode-nr", "fs/inode-state")


def content(path):
    try:
        with open(path, "rb") as file:
            return file.read(4096)
    except OSError:
        return b""


def is_readable(path):
    if not os.path.isdir(path):
        return bool(content(path))
    try:
        names = os.listdir(path)
    except OSError:
        return False
    return any(is_readable(os.path.join(path, name)) for name in names)


look("the host's boot_id", content("/proc/sys/kernel/random/boot_id").decode().strip() == staged("boot_id"))
for name in sorted(os.listdir("/proc")):
    if not name.isdigit() and name not in NEEDED | OWN | ELSEWHERE:
        look(name, is_readable(f"/proc/{name}"))
for name in COUNTERS:
    look(name, is_readable(f"/proc/sys/{name}"))
verdict()
