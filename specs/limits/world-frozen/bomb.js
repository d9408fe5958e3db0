for (const key of Reflect.ownKeys(globalThis)) {
  const value = globalThis[key];
  if (Object(value) === value && value !== globalThis) {
    Object.freeze(value.prototype ?? value);
    Object.freeze(value);
  }
}
Object.preventExtensions(globalThis);
console.log('a line', { a: [1] });
return { list: [1, 'done'] };
