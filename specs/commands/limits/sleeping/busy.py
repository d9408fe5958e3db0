import time

print("BEGUN", flush=True)
time.sleep(60)
print("ESCAPED")
