def addresses():
    with open("/proc/kallsyms") as file:
        first = [line.split()[0] for line, _ in zip(file, range(100))]
    return "went through" if any(int(address, 16) for address in first) else "hidden"

attempt("kallsyms", "hidden|EACCES|EPERM|ENOENT", addresses)
attempt("the log of the kernel", "EPERM", lambda: call("syslog", 3, ctypes.create_string_buffer(64), 64))
attempt("its device", "EPERM|EACCES|ENOENT", lambda: os.close(os.open("/dev/kmsg", os.O_RDONLY)))
verdict()
