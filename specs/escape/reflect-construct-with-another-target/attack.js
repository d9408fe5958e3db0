const make = (() => {}).constructor;
class Harmless {}
try {
  return 'ESCAPED: ' + Reflect.apply(Reflect.construct(make, ['return typeof globalThis'], Harmless), null, []);
} catch (error) {
  return `refused: ${error.message}`;
}
