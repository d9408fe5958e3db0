const buffer = new ArrayBuffer(1, { maxByteLength: 2 ** 30 });
for (let size = 1; ; size *= 2) {
  buffer.resize(size);
  new Uint8Array(buffer).fill(1);
}
