with open("/proc/self/environ") as file:
    names = {item.split("=")[0] for item in file.read().split("\0") if item}
found(f"variables {sorted(names)}", names != {"PATH", "HOME", "LANG", "TMPDIR"})
mask = os.umask(0)
found(f"mask {mask:o}", mask != 0o022)
found("files that shells read", os.path.exists(os.environ["HOME"] + "/.profile"))
verdict_of_looking()
