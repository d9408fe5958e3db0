print("BEGUN", flush=True)
while True:
    pass
