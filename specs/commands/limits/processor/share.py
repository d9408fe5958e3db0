# Ends with 0 if a command had between 90 % and 110 % of a tenth of a processor, with 1 if it had more, and with 3 if it had less.
import json
import sys

SHARE, PERIOD_MS = 0.1, 100
usage = json.load(open("told.json"))["usage"]
used, wall = usage["cpuMs"], usage["wallMs"]
# Beside its share it may have what is left of one period.
if used > 1.1 * SHARE * wall + SHARE * PERIOD_MS:
    print(f"ESCAPED: {used} ms of {wall} ms")
    sys.exit(1)
sys.exit(0 if used >= 0.9 * SHARE * wall else 3)
