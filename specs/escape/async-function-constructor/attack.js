const make = (async () => {}).constructor;
try {
  return 'ESCAPED: ' + await make('return typeof globalThis')();
} catch (error) {
  return `refused: ${error.message}`;
}
