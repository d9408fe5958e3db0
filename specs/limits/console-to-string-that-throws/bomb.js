try {
  console.log('%s', { toString() { throw new Error('mine'); } });
} catch (error) {
  return `caught ${error.message}`;
}
