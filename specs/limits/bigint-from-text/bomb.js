const text = '9'.repeat(300000);
for (;;) BigInt(text);
