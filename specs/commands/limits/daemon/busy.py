import os
import time

reading, writing = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        null = os.open("/dev/null", os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        os.write(writing, b"x")
        time.sleep(60)
    os._exit(0)
os.read(reading, 1)
print("BEGUN")
