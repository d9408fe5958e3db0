for folder in FOLDERS:
    with leaving(f"a mode on {folder}"):
        os.chmod(folder, 0o1711 if os.stat(folder).st_mode & 0o7777 != 0o1711 else 0o711)
    with leaving(f"a time on {folder}"):
        os.utime(folder, (12345, 12345))
    with leaving(f"an attribute on {folder}"):
        os.setxattr(folder, "user.of-a-spec", b"of the first lease")
verdict_of_leaving()
