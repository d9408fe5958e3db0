const make = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(() => {}), 'constructor').value;
try {
  return 'ESCAPED: ' + Reflect.construct(make, ['return typeof globalThis'])();
} catch (error) {
  return `refused: ${error.message}`;
}
