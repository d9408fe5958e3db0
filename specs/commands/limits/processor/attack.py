import time

SECONDS = 2
children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            pass
        os._exit(0)
    children.append(child)
used = 0
for child in children:
    usage = os.wait4(child, 0)[2]
    used += usage.ru_utime + usage.ru_stime
# What four busy processes had of these seconds: all of every processor, or a tenth of one and a little.
share = used / SECONDS
print("SHARE small" if share < 0.25 else f"ESCAPED {share}")
