for folder in FOLDERS:
    found(f"a mode on {folder}", os.stat(folder).st_mode & 0o7777 in (0o1711, 0o711))
    found(f"a time on {folder}", int(os.stat(folder).st_mtime) == 12345)
    try:
        found(f"an attribute on {folder}", os.listxattr(folder))
    except OSError:
        pass
verdict_of_looking()
