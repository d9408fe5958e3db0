from packed import OUTSIDE, Layer, saved

value = (0x02000001).to_bytes(4, "little") + (1 << 13).to_bytes(4, "little") + bytes(12)
value = value.decode("utf-8", "surrogateescape")
Layer().shell().file("able", "REFUSED\n", 0o755, {"SCHILY.xattr.security.capability": value}).write()
