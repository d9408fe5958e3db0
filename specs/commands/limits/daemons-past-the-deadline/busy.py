import os
import signal
import time

for _ in range(8):
    if os.fork() == 0:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        if os.fork() == 0:
            os.setpgid(0, 0)
        time.sleep(60)
        os._exit(0)
print("BEGUN", flush=True)
time.sleep(60)
