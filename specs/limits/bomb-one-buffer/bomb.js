return new ArrayBuffer(2 ** 30).byteLength;
