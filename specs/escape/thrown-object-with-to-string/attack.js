throw {
  toString() {
    console.log('ESCAPED');
    return 'x';
  },
  get message() {
    console.log('ESCAPED');
    return 'x';
  },
  [Symbol.toPrimitive]() {
    console.log('ESCAPED');
    return 'x';
  },
};
