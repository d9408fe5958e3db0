import resource

os.chdir(scratch())

def crash():
    child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
        except (OSError, ValueError):
            pass
        os.kill(os.getpid(), signal.SIGSEGV)
    _, status = os.waitpid(child, 0)
    return "went through" if os.WCOREDUMP(status) else "no core"

attempt("core", "no core", crash)
look("files: " + " ".join(os.listdir(".")), os.listdir("."))
verdict()
