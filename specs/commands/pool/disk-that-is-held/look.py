told = os.statvfs("/tmp")
used = (told.f_blocks - told.f_bfree) * told.f_frsize
found(f"{used} bytes", used > 1 << 20)
verdict_of_looking()
