try {
  return 'ESCAPED: ' + typeof globalThis.process.binding('fs');
} catch (error) {
  return `refused: ${error.message}`;
}
