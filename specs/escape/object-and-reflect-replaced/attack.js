const say = console.log;
const { getOwnPropertyNames } = Object;
let busy = false;
for (const holder of [Reflect, Object]) {
  for (const name of getOwnPropertyNames(holder)) {
    if (typeof holder[name] !== 'function' || name === 'prototype') continue;
    const before = holder[name];
    holder[name] = function (...rest) {
      if (!busy) {
        busy = true;
        say('ESCAPED');
      }
      return before(...rest);
    };
  }
}
console.log('a line', 1, { a: [1, 2] });
return new Map([['list', [1, 'refused']]]);
