try {
  (() => {}).constructor("a = console.log('ESCAPED')", 'return a')();
  return 'ran';
} catch (error) {
  return `refused: ${error.message}`;
}
