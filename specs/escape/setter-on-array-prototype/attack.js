const say = console.log;
for (let i = 0; i < 10; i++) {
  Object.defineProperty(Array.prototype, i, {
    configurable: true,
    get() {},
    set() {
      for (let j = 0; j < 10; j++) delete Array.prototype[j];
      say('ESCAPED');
    },
  });
}
console.log('a line', 1, Symbol.iterator);
return 'refused';
