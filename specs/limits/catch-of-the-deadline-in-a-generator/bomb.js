function* spin() {
  try {
    for (;;) yield 1;
  } finally {
    for (;;);
  }
}
for (;;) for (const x of spin()) break;
