const make = Object.getPrototypeOf(function* () {}).constructor;
try {
  return 'ESCAPED: ' + make('yield typeof globalThis')().next().value;
} catch (error) {
  return `refused: ${error.message}`;
}
