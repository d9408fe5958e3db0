const huge = 3n ** 400000n;
for (;;) huge.toString();
