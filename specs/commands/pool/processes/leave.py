import time

with leaving("processes"):
    for kind in ("child", "daemon", "stopped", "deaf"):
        reading, writing = os.pipe()
        if os.fork() == 0:
            if kind != "child":
                os.setsid()
                if os.fork() != 0:
                    os._exit(0)
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            null = os.open("/dev/null", os.O_RDWR)
            for stream in range(3):
                os.dup2(null, stream)
            os.write(writing, b"x")
            if kind == "stopped":
                os.kill(os.getpid(), signal.SIGSTOP)
            time.sleep(60)
            os._exit(0)
        os.read(reading, 1)
verdict_of_leaving()
