try {
  for (;;);
} finally {
  return 'caught';
}
