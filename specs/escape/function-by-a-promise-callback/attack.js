const make = (() => {}).constructor;
return Promise.resolve('return typeof globalThis').then(make).then(
  (made) => 'ESCAPED: ' + made(),
  (error) => `refused: ${error.message}`,
);
