const gone = new Uint8Array(64);
gone.buffer.transfer();
const cut = new Uint8Array(new ArrayBuffer(64, { maxByteLength: 64 }));
cut.buffer.resize(2);
return { gone, cut, grown: cut.length };
