pid, marker = staged("pid"), staged("marker").encode()
look("its folder", os.path.exists(f"/proc/{pid}/environ") and marker in open(f"/proc/{pid}/environ", "rb").read())
seen = False
for name in filter(str.isdigit, os.listdir("/proc")):
    try:
        seen |= marker in open(f"/proc/{name}/environ", "rb").read()
    except OSError:
        pass
look("its environment", seen)
look("more than a few processes", sum(map(str.isdigit, os.listdir("/proc"))) > 4)
verdict()
