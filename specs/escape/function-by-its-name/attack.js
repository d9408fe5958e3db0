const names = ['Function', 'AsyncFunction', 'GeneratorFunction', 'AsyncGeneratorFunction', 'eval'];
const there = names.filter((name) => name in globalThis);
return there.length === 0 ? 'refused: none is there' : `ESCAPED: ${there}`;
