# Opened only: nothing is written, also where it could be.
wall = "EROFS|EACCES|EPERM|ENOENT"
for name in ("core_pattern", "core_pipe_limit", "core_uses_pid"):
    attempt(name, wall, lambda: os.close(os.open(f"/proc/sys/kernel/{name}", os.O_WRONLY)))
verdict()
