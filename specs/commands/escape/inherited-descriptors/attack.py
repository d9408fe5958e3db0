listing = os.open("/proc/self/fd", os.O_RDONLY | os.O_DIRECTORY)
more = sorted(set(map(int, os.listdir(listing))) - {0, 1, 2, listing})
# The one that listed them is closed by now; it was the lowest that was free.
more = [number for number in more if os.path.exists(f"/proc/self/fd/{number}")]
look("more: " + " ".join(f"{number}={os.readlink(f'/proc/self/fd/{number}')}" for number in more), more)
verdict()
