const told = [];
for (const object of [globalThis, console]) {
  for (const key of Reflect.ownKeys(object)) {
    const { value } = Object.getOwnPropertyDescriptor(object, key);
    if (typeof value !== 'function') continue;
    const text = String(value);
    if (!/\[native code\]/.test(text) || text.length > 100) told.push(String(key));
  }
}
return told.length === 0 ? 'refused: all are native' : `ESCAPED: ${told}`;
