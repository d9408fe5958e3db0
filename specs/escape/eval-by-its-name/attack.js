const seen = [];
for (const way of [() => eval('1'), () => (0, eval)('1'), () => globalThis['ev' + 'al']('1')]) {
  try {
    seen.push('ESCAPED: ' + way());
  } catch (error) {
    seen.push(error.name);
  }
}
return `refused: ${seen.join(', ')}`;
