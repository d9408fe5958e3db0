const kept = [];
for (;;) kept.push(new Uint8Array(65536));
