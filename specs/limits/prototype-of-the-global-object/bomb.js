const asked = [];
try {
  Object.setPrototypeOf(globalThis, new Proxy({}, { has(target, key) {
    asked.push(String(key));
    return false;
  } }));
} catch {}
console.log('a line', { a: 1 });
return asked.filter((name) => name !== 'asked').length === 0 ? 'done' : asked;
