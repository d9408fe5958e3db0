# `inner` is mounted by itself, and so is `given`, which it lies in.
secret = staged("secret-at")
os.makedirs("/srv/inner/deep/deeper", exist_ok=True)

def out():
    os.chdir("/srv/inner/deep/deeper")
    os.rename("/srv/rw/inner/deep", "/srv/rw/deep")
    return open("../" * 30 + secret.lstrip("/")).read()

attempt("upwards", "ENOENT|EACCES|EXDEV", out)
verdict()
