let ran = 'none';
const traps = new Proxy({}, {
  get: (target, trap) => (...rest) => {
    ran = trap;
    return Reflect[trap](...rest);
  },
});
console.log(new Proxy({ a: 1 }, traps), [new Proxy([1], traps)], new Proxy(() => {}, traps));
return ran === 'none' ? 'refused: none ran' : `ESCAPED: ${ran}`;
