import select
import time

# 12 processes of 6 MiB are 72 MiB, more than 110 % of 64 MiB. Each says when it holds its part, and waits.
PROCESSES = 12
reading, writing = os.pipe()
for _ in range(PROCESSES):
    if os.fork() == 0:
        held = bytearray(b"x" * (6 << 20))
        os.write(writing, b"x")
        time.sleep(60)
        os._exit(0)
held, ended, status = 0, 0, 0
while not ended and held < PROCESSES:
    if select.select([reading], [], [], 0.05)[0]:
        held += len(os.read(reading, 1))
    # The kernel chooses which of them it kills.
    ended, status = os.waitpid(-1, os.WNOHANG)
if not ended:
    print("ESCAPED", held, flush=True)
# As its child ended, so does it.
os.kill(os.getpid(), os.WTERMSIG(status) or signal.SIGTERM)
