import subprocess

def run():
    done = subprocess.run(["/srv/ro/whoever"], capture_output=True, text=True)
    return "went through" if done.stdout.strip() == "0" else "no"

attempt("run", "no|EACCES|EPERM", run)
verdict()
