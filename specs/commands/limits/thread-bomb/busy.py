import threading

gate = threading.Event()
count = 0
try:
    for _ in range(500):
        threading.Thread(target=gate.wait, daemon=True).start()
        count += 1
    print("ESCAPED", count, flush=True)
except RuntimeError:
    print("ENDED", "within" if count <= 32 else "above", "the limit", flush=True)
import os
os._exit(0)
