const say = console.log;
let armed = false;
for (const kind of [Array, ArrayBuffer, RegExp, Promise, Map, Set]) {
  Object.defineProperty(kind, Symbol.species, {
    get() {
      if (armed) {
        armed = false;
        say('ESCAPED');
      }
      return kind;
    },
  });
}
armed = true;
console.log('a line', 1, [1, 2]);
return 'refused';
