const say = console.log;
const { then } = Promise.prototype;
let busy = false;
Promise.prototype.then = function (...handlers) {
  if (!busy) {
    busy = true;
    say('ESCAPED');
  }
  return Reflect.apply(then, this, handlers);
};
Promise.resolve = Promise.reject = () => {
  say('ESCAPED');
};
console.log('a line', 1, { a: [1, 2] }, new Map([[1, 2]]));
return { list: [1, 'refused', { deep: true }] };
