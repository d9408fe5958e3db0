Object.defineProperty(Error, 'prepareStackTrace', {
  configurable: true,
  get() {
    return () => {
      console.log('ESCAPED');
      return 'a stack of mine';
    };
  },
});
null.property;
