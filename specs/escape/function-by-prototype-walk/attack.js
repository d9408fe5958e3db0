const make = (() => {}).constructor;
try {
  return 'ESCAPED: ' + make('return typeof globalThis')();
} catch (error) {
  return `refused: ${error.message}`;
}
