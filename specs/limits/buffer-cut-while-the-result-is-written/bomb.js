const bytes = new Uint8Array(new ArrayBuffer(4096, { maxByteLength: 4096 }));
return { get a() {
  bytes.buffer.resize(1);
  return 1;
}, bytes };
