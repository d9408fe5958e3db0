wall = "EROFS|EACCES|EPERM|ENOENT"
for name in ("kernel/hostname", "kernel/modprobe", "kernel/printk", "kernel/randomize_va_space", "kernel/threads-max",
             "vm/overcommit_memory", "vm/drop_caches", "fs/file-max", "fs/suid_dumpable", "net/ipv4/ip_forward",
             "user/max_user_namespaces"):
    attempt(name, wall, lambda: os.close(os.open(f"/proc/sys/{name}", os.O_WRONLY)))
verdict()
