const seen = [];
for (const name of ['os', 'node:fs', 'std', 'qjs:os', 'bailiwick']) {
  try {
    seen.push('ESCAPED: ' + Object.keys(await import(name)).length);
  } catch (error) {
    seen.push(error.name);
  }
}
return `refused: ${seen}`;
