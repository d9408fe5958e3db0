let value = 3n ** 200000n;
for (;;) value *= value;
