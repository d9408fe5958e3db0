import time

children = []
for _ in range(12):
    child = os.fork()
    if child == 0:
        held = bytearray(b"x" * (16 << 20))
        time.sleep(30)
        os._exit(0)
    children.append(child)
ends = [os.waitpid(child, 0)[1] for child in children[:1]]
print("ENDED", [os.WTERMSIG(end) for end in ends])
