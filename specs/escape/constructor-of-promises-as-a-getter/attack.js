const say = console.log;
Object.defineProperty(Promise.prototype, 'constructor', {
  get() {
    if (/\//.test(new Error('x').stack)) say('ESCAPED');
    return Promise;
  },
});
Object.defineProperty(Promise, Symbol.species, {
  get() {
    if (/\//.test(new Error('x').stack)) say('ESCAPED');
    return Promise;
  },
});
console.log('a line', 1, { a: [1, 2] }, new Map([[1, 2]]));
return { list: [1, 'refused', { deep: true }] };
