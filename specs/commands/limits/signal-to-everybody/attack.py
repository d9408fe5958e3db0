import time

if os.fork() == 0:
    time.sleep(60)
    os._exit(0)
print("BEGUN")
sys.stdout.flush()
os.kill(-1, signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
