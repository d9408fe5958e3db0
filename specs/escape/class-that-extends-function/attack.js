class Made extends (() => {}).constructor {
  constructor() {
    super('return typeof globalThis');
  }
}
try {
  return 'ESCAPED: ' + new Made()();
} catch (error) {
  return `refused: ${error.message}`;
}
