for folder in FOLDERS:
    with leaving(folder):
        os.makedirs(f"{folder}/.hidden/deep", exist_ok=True)
        with open(f"{folder}/.hidden/deep/secret", "w") as file:
            file.write("of the first lease")
        os.symlink("/nowhere", f"{folder}/link")
        os.mkfifo(f"{folder}/fifo")
        # A folder that its owner cannot even look into.
        os.chmod(f"{folder}/.hidden/deep", 0)
        os.chmod(f"{folder}/.hidden", 0)
verdict_of_leaving()
