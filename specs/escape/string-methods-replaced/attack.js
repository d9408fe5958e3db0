const say = console.log;
let busy = false;
for (const name of Object.getOwnPropertyNames(String.prototype)) {
  if (name === 'constructor' || name === 'length') continue;
  const before = String.prototype[name];
  String.prototype[name] = function (...rest) {
    if (!busy) {
      busy = true;
      say('ESCAPED');
    }
    return Reflect.apply(before, this, rest);
  };
}
console.log('a line of %s', 'text');
console.log('a line', 1, { a: [1, 2] }, new Map([[1, 2]]));
return { list: [1, 'refused', { deep: true }] };
