// The names on the global object: everything that is not kept goes, what can be granted waits on a shelf.
(function (native, P, bindings) {
  'use strict';
  const { ownKeys, defineProperty, getOwnPropertyDescriptor, errors, indexOf } = P;
  const shelf = { __proto__: null };
  const hidden = (object, key, value) => {
    defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  };
  // Called once, before any guest: `kept` and `offered` are lines of names.
  const scrub = (kept, offered, removed) => {
    const stays = (lines, name) => indexOf(lines, '\n' + name + '\n') !== -1;
    const names = ownKeys(globalThis);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (typeof name === 'symbol' || stays(kept, name)) continue;
      if (stays(offered, name)) shelf[name] = globalThis[name];
      if (!delete globalThis[name]) throw new errors.Error('the global ' + name + ' cannot be removed');
    }
    delete Math.random;
    // The engine would call what is set here with the functions on the stack, ours among them.
    delete Error.prepareStackTrace;
    if (removed) delete Array.fromAsync;
    const ours = ownKeys(bindings);
    for (let i = 0; i < ours.length; i++) {
      const name = ours[i];
      if (stays(kept, name)) hidden(globalThis, name, bindings[name]);
      else if (stays(offered, name)) shelf[name] = bindings[name];
    }
  };
  const math = Math;
  const install = (name) => {
    const value = shelf[name];
    if (value === undefined) return;
    if (name === 'Math.random') hidden(math, 'random', value);
    else hidden(globalThis, name, value);
  };
  const remove = (name) => {
    if (name === 'Math.random') delete math.random;
    else delete globalThis[name];
  };
  return { __proto__: null, scrub, install, remove };
});
