let value = 3n;
for (;;) value *= value;
