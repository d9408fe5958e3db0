const text = '\u1e9b\u0323'.repeat(100000);
for (;;) text.normalize('NFKD');
