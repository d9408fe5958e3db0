let ran = false;
const endless = {
  toJSON() {
    ran = true;
    return 1;
  },
  *[Symbol.iterator]() {
    ran = true;
    yield 1;
  },
};
console.log(endless, [endless]);
console.error(Object.assign([], { [Symbol.iterator]: endless[Symbol.iterator], toJSON: endless.toJSON }));
return ran ? 'ESCAPED' : 'refused: it did not run';
