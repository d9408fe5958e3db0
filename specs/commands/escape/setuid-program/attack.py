import subprocess

def become():
    done = subprocess.run(["/usr/bin/su", "-s", "/bin/sh", "-c", "id -u", "root"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    return "went through" if done.stdout.strip() == "0" else "no"

attempt("su", "no|ENOENT|EPERM|EACCES", become)
attempt("setuid", "EPERM|EINVAL", lambda: os.setuid(0))
attempt("setgid", "EPERM|EINVAL", lambda: os.setgid(0))
attempt("setresuid", "EPERM|EINVAL", lambda: os.setresuid(0, 0, 0))
attempt("setgroups", "EPERM|EINVAL", lambda: os.setgroups([0]))
verdict()
