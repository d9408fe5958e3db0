return new Uint8Array(900 * 1024);
