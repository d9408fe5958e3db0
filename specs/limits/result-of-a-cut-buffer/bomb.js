const cut = new Uint8Array(new ArrayBuffer(64, { maxByteLength: 64 }));
cut.buffer.resize(2);
return { cut, left: cut.length };
