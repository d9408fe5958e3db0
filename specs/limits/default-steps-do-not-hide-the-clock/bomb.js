const text = 'x'.repeat(1e6);
for (;;) text.indexOf('y');
