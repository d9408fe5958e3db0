import time

with leaving("a file that has no name"):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        held = os.open("/tmp", os.O_TMPFILE | os.O_RDWR)
        for _ in range(8):
            os.write(held, bytes(1 << 20))
        null = os.open("/dev/null", os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        os.write(writing, b"x")
        time.sleep(60)
        os._exit(0)
    os.close(writing)
    if not os.read(reading, 1):
        raise OSError("it was not written")
verdict_of_leaving()
