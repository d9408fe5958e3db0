console.log('%s', { toString() {
  for (;;);
} });
