found(f"stands in {os.getcwd()}", os.getcwd() != "/work")
found(f"files {os.listdir('.')}", os.listdir("."))
try:
    os.mkdir("mine")
    os.rmdir("mine")
except OSError as error:
    found(f"cannot write there: {error}", True)
verdict_of_looking()
