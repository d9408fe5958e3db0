try {
  for (;;);
} finally {
  for (;;);
}
