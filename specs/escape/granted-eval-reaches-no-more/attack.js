const doors = ['process', 'require', 'module', 'fetch', 'setTimeout', 'WebAssembly', 'SharedArrayBuffer', 'std', 'os'];
const text = `[${doors.map((name) => `typeof ${name}`)}].filter((type) => type !== 'undefined').length`;
const seen = [Function(`return ${text}`)(), (0, eval)(text), eval(text), await (async () => {}).constructor(`return ${text}`)()];
return seen.join() === '0,0,0,0' ? 'refused: all closed' : `ESCAPED: ${seen}`;
