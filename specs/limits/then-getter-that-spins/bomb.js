return { get then() {
  for (;;);
} };
