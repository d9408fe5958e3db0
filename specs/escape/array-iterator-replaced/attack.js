const say = console.log;
const iterators = Object.getPrototypeOf([][Symbol.iterator]());
const { next } = iterators;
const { values } = Array.prototype;
const map = new Map([[1, 2]]);
let busy = false;
const tell = () => {
  if (busy) return;
  busy = true;
  say('ESCAPED');
};
iterators.next = function () {
  tell();
  return Reflect.apply(next, this, []);
};
Array.prototype[Symbol.iterator] = function () {
  tell();
  return Reflect.apply(values, this, []);
};
console.log('a line', 1, { a: [1, 2] }, map);
return { list: [1, 'refused', { deep: true }], map };
