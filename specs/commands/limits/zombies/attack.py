for turn in range(200):
    if os.fork() == 0:
        # The child's child has lost its parent by the time that it ends.
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.wait()
print("ALL BEGUN")
