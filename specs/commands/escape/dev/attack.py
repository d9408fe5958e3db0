import stat

harmless = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "fd", "stdin", "stdout", "stderr"}
there = set(os.listdir("/dev"))
look("more: " + " ".join(sorted(there - harmless)[:5]), there - harmless)
look("disks", [name for name in there if stat.S_ISBLK(os.stat(f"/dev/{name}").st_mode)] if there <= harmless else 1)
look("without: " + " ".join(sorted({"null", "zero", "urandom"} - there)), {"null", "zero", "urandom"} - there)
new = "/dev/of-a-spec"
attempt("a new name", "EROFS|EACCES|EPERM", lambda: os.close(os.open(new, os.O_CREAT | os.O_WRONLY)) or os.unlink(new))
verdict()
