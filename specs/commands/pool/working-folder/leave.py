with leaving("a folder that is in the way"):
    with open("of-the-first-lease", "w") as file:
        file.write("x")
    os.chmod(".", 0o500)
verdict_of_leaving()
