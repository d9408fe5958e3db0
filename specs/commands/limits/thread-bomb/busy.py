import threading

gate = threading.Event()
count = 0
try:
    for _ in range(500):
        threading.Thread(target=gate.wait, daemon=True).start()
        count += 1
    print("ESCAPED", count, flush=True)
except RuntimeError:
    # With the first thread, between 90 % and 110 % of 32.
    print("ENDED", "at the limit" if 29 <= count + 1 <= 35 else f"ESCAPED {count}", flush=True)
import os
os._exit(0)
