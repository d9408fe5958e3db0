import pty
import time

with leaving("a terminal"):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        pty.openpty()
        null = os.open("/dev/null", os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        os.write(writing, b"x")
        time.sleep(60)
        os._exit(0)
    os.close(writing)
    os.read(reading, 1)
verdict_of_leaving()
