with leaving("a folder that is in the way"):
    with open("of-the-first-lease", "w") as file:
        file.write("x")
    try:
        os.chmod(".", 0o500)
    except PermissionError:
        # Some engines make the folder somebody else's; the file is left all the same.
        pass
verdict_of_leaving()
