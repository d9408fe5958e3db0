import time

# Four busy processes, for up to four times two seconds. All that time together they have no more than 110 % of a tenth of a processor,
# beside what the kernel hands out in one period; and in one of the four they have 90 % of it, however busy the host is otherwise.
SECONDS, SHARE, PERIOD = 2, 0.1, 0.1


def busy():
    began = time.monotonic()
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            while time.monotonic() < began + SECONDS:
                pass
            os._exit(0)
        children.append(child)
    usages = [os.wait4(child, 0)[2] for child in children]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages), time.monotonic() - began


had, elapsed, reached = 0, 0, 0
for _ in range(4):
    used, lasted = busy()
    had, elapsed, reached = had + used, elapsed + lasted, max(reached, used / lasted)
    if reached >= 0.9 * SHARE:
        break
is_held = had <= 1.1 * SHARE * elapsed + SHARE * PERIOD
print(f"SHARE held, {reached}" if is_held and reached >= 0.9 * SHARE else f"ESCAPED {had} in {elapsed}, {reached}")
