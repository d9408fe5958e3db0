home = staged("home-at")
for path in ("/etc/shadow", "/etc/gshadow", "/root/.profile", "/root", "/home", home, home + "/secret",
             home + "/.local/share/bailiwick", home + "/.config/bailiwick", "/boot", "/var/log", "/run/systemd"):
    # A folder that is there and empty tells nothing.
    attempt(path, "ENOENT|EACCES|empty", lambda: some(os.listdir(path) if os.path.isdir(path) else open(path).read()))
verdict()
