const say = console.log;
const { apply } = Reflect;
let busy = false;
for (const name of ['call', 'apply', 'bind', 'toString']) {
  const owner = Object.getPrototypeOf(() => {});
  const before = owner[name];
  owner[name] = function (...rest) {
    if (!busy) {
      busy = true;
      say('ESCAPED');
    }
    return apply(before, this, rest);
  };
}
console.log('a line with a function', () => {});
return { toJSON: () => 'refused' };
