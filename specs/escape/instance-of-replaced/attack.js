for (const kind of [Error, TypeError, RangeError, Object, Array, Promise]) {
  Object.defineProperty(kind, Symbol.hasInstance, {
    value: () => {
      console.log('ESCAPED');
      return true;
    },
  });
}
console.log('a line');
throw new TypeError('refused');
