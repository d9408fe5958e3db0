const gone = new Uint8Array(64);
gone.buffer.transfer();
return { gone };
