look("the name of the host", os.uname().nodename == staged("name"))
verdict()
