// Touches everything that the engine makes only when it is first used, so that no clone has to make it again.
(function (native, P) {
  'use strict';
  const { ownKeys, getOwnPropertyDescriptor, getPrototypeOf, Set, setHas, setAdd } = P;
  return () => {
    const seen = new Set();
    const visit = (value) => {
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null || setHas(seen, value)) return;
      setAdd(seen, value);
      const keys = ownKeys(value);
      for (let i = 0; i < keys.length; i++) {
        const found = getOwnPropertyDescriptor(value, keys[i]);
        visit(found.value);
        visit(found.get);
        visit(found.set);
      }
      visit(getPrototypeOf(value));
    };
    visit(globalThis);
    visit(function* () {});
    visit([][Symbol.iterator]());
    visit(''[Symbol.iterator]());
    visit(/a/g[Symbol.matchAll](''));
  };
});
