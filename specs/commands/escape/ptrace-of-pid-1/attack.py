PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206
# Seizing stops nothing, and ends with the process that seized.
attempt("seize", "EPERM", lambda: call("ptrace", PTRACE_SEIZE, 1, 0, 0))
attempt("seize the parent", "EPERM", lambda: call("ptrace", PTRACE_SEIZE, os.getppid(), 0, 0))
verdict()
