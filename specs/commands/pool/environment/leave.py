with leaving("files that shells read"):
    for name in (".profile", ".bashrc", ".pam_environment", "sitecustomize.py", "usercustomize.py"):
        with open(f"{os.environ['HOME']}/{name}", "w") as file:
            file.write("OF_THE_FIRST_LEASE=1\n")
with leaving("a variable and a mask"):
    os.environ["OF_THE_FIRST_LEASE"] = "1"
    os.umask(0)
verdict_of_leaving()
