with open("/srv/rw/new", "w") as file:
    file.write("from inside")
os.mkdir("/srv/rw/folder")
print("WRITTEN" if open("/srv/rw/new").read() == "from inside" else "LOST")
look("as root", os.stat("/srv/rw/new").st_uid == 0)
verdict()
