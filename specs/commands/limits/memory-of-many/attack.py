import time

for _ in range(12):
    if os.fork() == 0:
        held = bytearray(b"x" * (16 << 20))
        time.sleep(30)
        os._exit(0)
# Which of them is ended is the kernel's choice.
_, end = os.wait()
print("ENDED", os.WTERMSIG(end))
