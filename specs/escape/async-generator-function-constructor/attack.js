const make = Object.getPrototypeOf(async function* () {}).constructor;
try {
  return 'ESCAPED: ' + (await make('yield typeof globalThis')().next()).value;
} catch (error) {
  return `refused: ${error.message}`;
}
