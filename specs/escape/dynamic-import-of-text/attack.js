try {
  return 'ESCAPED: ' + (await import('data:text/javascript,export default typeof globalThis')).default;
} catch (error) {
  return `refused: ${error.name}`;
}
