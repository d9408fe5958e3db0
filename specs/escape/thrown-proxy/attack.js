throw new Proxy(new Error('inside'), new Proxy({}, {
  get: () => () => {
    console.log('ESCAPED');
  },
}));
