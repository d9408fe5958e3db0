const say = console.log;
let busy = false;
for (const name of ['get', 'set', 'value', 'writable', 'enumerable', 'configurable', 'level', 'text', 'length', 'code']) {
  Object.defineProperty(Object.prototype, name, {
    __proto__: null,
    configurable: true,
    get() {
      if (!busy && this !== globalThis) {
        busy = true;
        say('ESCAPED');
      }
    },
    set() {},
  });
}
console.log('a line', { a: 1 });
throw { plain: 'refused' };
