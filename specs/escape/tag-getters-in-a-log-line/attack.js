let ran = 'none';
const trap = (name) => ({
  configurable: true,
  get() {
    ran = name;
    return name;
  },
});
const value = Object.create(
  Object.defineProperties({}, { constructor: trap('constructor'), toJSON: trap('toJSON'), [Symbol.toStringTag]: trap('tag') }),
);
const error = Object.defineProperties(new Error('m'), { name: trap('name'), stack: trap('stack'), cause: trap('cause') });
console.log(value, error, [value]);
return ran === 'none' ? 'refused: none ran' : `ESCAPED: ${ran}`;
