# 110 % of 64 KiB on one stream, which is cut before its end, and 90 % on the other, which is whole.
os.write(1, b"x" * 72083 + b" ESCAPED")
os.write(2, b"x" * 58974 + b" COMPLETE")
