try {
  'x'.repeat(2 ** 29);
} catch {
  return 'went on';
}
