const keys = Array.from({ length: 20000 }, (_, i) => 'k'.repeat(100) + i);
return new Proxy({}, {
  ownKeys: () => keys,
  getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }),
  get: (target, key) => (key === 'toJSON' ? undefined : 1),
});
