const say = console.log;
let busy = false;
const tell = () => {
  if (busy) return;
  busy = true;
  say('ESCAPED');
};
Object.setPrototypeOf(Array.prototype, new Proxy({}, {
  get: (target, key) => (typeof key === 'symbol' || key === 'toJSON' ? undefined : tell()),
  set: (target, key, value, receiver) => {
    tell();
    return Reflect.defineProperty(receiver, key, { value, writable: true, enumerable: true, configurable: true });
  },
  has: () => (tell(), false),
}));
console.log('a line', 1);
return 'refused';
