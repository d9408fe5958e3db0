return new Proxy({}, { ownKeys() {
  for (;;);
} });
