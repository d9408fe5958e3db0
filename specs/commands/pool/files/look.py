for folder in FOLDERS:
    found(f"{folder}: {os.listdir(folder)}", os.listdir(folder))
verdict_of_looking()
