const say = console.log;
for (const name of ['JSON', 'Promise', 'Object', 'Array', 'String', 'Error', 'Map', 'Set', 'console', 'undefined']) {
  const before = globalThis[name];
  Reflect.defineProperty(globalThis, name, {
    configurable: true,
    get() {
      if (armed) {
        armed = false;
        say('ESCAPED');
      }
      return before;
    },
  });
}
let armed = true;
say('a line', { a: 1 });
return { list: [1, 'refused', { deep: true }] };
