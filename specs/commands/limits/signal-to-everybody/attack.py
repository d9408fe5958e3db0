print("BEGUN")
sys.stdout.flush()
os.kill(-1, signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
