const say = console.log;
const map = new Map([['key', new Set(['item'])]]);
let busy = false;
for (const kind of [Map, Set, WeakMap, WeakSet]) {
  for (const name of ['get', 'set', 'has', 'add', 'delete', 'forEach', 'entries', 'keys', 'values']) {
    if (!(name in kind.prototype)) continue;
    const before = kind.prototype[name];
    kind.prototype[name] = function () {
      if (!busy) {
        busy = true;
        say('ESCAPED');
      }
      return Reflect.apply(before, this, arguments);
    };
  }
}
structuredClone(map);
console.log('a line', map);
return { map, list: [1, 'refused', { deep: true }] };
