globalThis.Function = (() => {}).constructor;
try {
  return 'ESCAPED: ' + Function('return typeof globalThis')();
} catch (error) {
  return `refused: ${error.message}`;
}
