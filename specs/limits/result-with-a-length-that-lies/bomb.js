return new Proxy([], { get: (target, key) => (key === 'length' ? 2 ** 53 - 1 : 0) });
