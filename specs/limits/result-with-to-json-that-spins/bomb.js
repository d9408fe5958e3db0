return { toJSON() {
  for (;;);
} };
