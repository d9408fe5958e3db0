let handed = 'nothing';
const value = () => {};
value[Symbol.for('nodejs.util.inspect.custom')] = (depth, options, inspect) => {
  handed = typeof inspect;
  return 'x';
};
console.log(value);
return handed === 'nothing' ? 'refused: nothing' : `ESCAPED: ${handed}`;
