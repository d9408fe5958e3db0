name = staged("name")
written = 0
for folder in ("/tmp", "/dev/shm", "/var/tmp", os.environ["HOME"], os.environ["TMPDIR"], os.getcwd()):
    try:
        with open(f"{folder}/{name}", "w") as file:
            file.write("x")
        written += 1
    except OSError:
        pass
print("WRITTEN" if written >= 3 else "NOWHERE")
