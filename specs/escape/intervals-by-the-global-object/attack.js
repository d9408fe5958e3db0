const names = ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'requestIdleCallback'];
const there = names.filter((name) => globalThis[name] || Reflect.has(globalThis, name));
return there.length === 0 ? 'refused: none' : `ESCAPED: ${there}`;
