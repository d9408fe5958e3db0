import struct

handle = ctypes.create_string_buffer(struct.pack("Ii", 64, 0) + bytes(64))
mount = ctypes.c_int()

def reopen():
    call("name_to_handle_at", -100, b"/usr/bin/env", ctypes.byref(handle), ctypes.byref(mount), 0)
    call("open_by_handle_at", os.open("/usr", os.O_RDONLY), ctypes.byref(handle), os.O_RDONLY)

attempt("name_to_handle_at", "EPERM", reopen)
# A handle that somebody made up: whoever may use one is told ESTALE or EINVAL.
made_up = ctypes.create_string_buffer(struct.pack("Ii", 8, 1) + struct.pack("II", 2, 0))
usr = os.open("/usr", os.O_RDONLY)
attempt("open_by_handle_at", "EPERM", lambda: call("open_by_handle_at", usr, ctypes.byref(made_up), os.O_RDONLY))
verdict()
