at = staged("at")
look("a file of the host", os.path.exists(at))
look("files: " + " ".join(os.listdir("/dev/shm")), os.listdir("/dev/shm"))
with open("/dev/shm/" + os.path.basename(at) + ".from-inside", "w") as file:
    file.write("x")
verdict()
