try {
  return 'ESCAPED: ' + Object.keys(await import(`${secret}`));
} catch (error) {
  return `refused: ${error.name}`;
}
