where = scratch()
told, made = None, 0
for number in range(400_000):
    try:
        os.close(os.open(f"{where}/{number}", os.O_CREAT | os.O_WRONLY))
        made += 1
    except OSError as error:
        told = errno.errorcode[error.errno]
        break
print("ENDED BY", told)
