const say = console.log;
let calls = 0;
Object.defineProperty(Object.prototype, 'then', {
  configurable: true,
  get() {
    calls++;
    if (calls > 1 || /\//.test(new Error('x').stack)) say('ESCAPED');
    return undefined;
  },
});
console.log('a line', 1, { a: [1, 2] }, new Map([[1, 2]]));
return { list: [1, 'refused', { deep: true }] };
