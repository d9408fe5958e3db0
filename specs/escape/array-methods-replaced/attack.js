const say = console.log;
let busy = false;
for (const name of ['push', 'pop', 'shift', 'slice', 'map', 'join', 'forEach', 'concat', 'includes', 'indexOf', 'sort']) {
  const before = Array.prototype[name];
  Array.prototype[name] = function () {
    if (!busy) {
      busy = true;
      say('ESCAPED');
    }
    return Reflect.apply(before, this, arguments);
  };
}
console.log('a line', 1, { a: [1, 2] }, new Map([[1, 2]]));
return { list: [1, 'refused', { deep: true }] };
