try {
  return 'ESCAPED: ' + JSON.stringify(await import('/proc/self/cwd/secret.json', { with: { type: 'json' } }));
} catch (error) {
  return `refused: ${error.name}`;
}
