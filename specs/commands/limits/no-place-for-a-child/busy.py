import os
import subprocess
import time

children = []
try:
    while len(children) < 500:
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        children.append(child)
except BlockingIOError:
    pass
try:
    subprocess.run(["/bin/true"])
    print("ESCAPED")
except BlockingIOError as error:
    print("REFUSED", error.strerror)
for child in children:
    os.kill(child, 9)
    os.waitpid(child, 0)
print("AGAIN", subprocess.run(["/bin/true"]).returncode)
