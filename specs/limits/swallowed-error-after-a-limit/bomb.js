try {
  for (;;);
} finally {
  throw new Error('mine');
}
