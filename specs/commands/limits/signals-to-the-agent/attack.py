for number in range(1, 65):
    if number not in (32, 33):
        try:
            os.kill(1, number)
        except OSError:
            pass
print("STILL HERE")
sys.stdout.flush()
os._exit(7)
