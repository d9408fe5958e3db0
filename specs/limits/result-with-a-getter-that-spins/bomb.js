return { get a() {
  for (;;);
} };
