const buffer = new ArrayBuffer(64, { maxByteLength: 64 });
const view = new DataView(buffer, 32, 32);
buffer.resize(8);
return { view };
