// What was thrown, as text. Nothing of the guest's runs here: a getter is not called, a proxy is not asked.
(function (native, P, inspect) {
  'use strict';
  const { classOf, getOwnPropertyDescriptor, getPrototypeOf, errorStack, symbolToString, String, WeakMap, weakGet, weakSet } = P;
  // Which effect an error is the refusal of. A guest cannot put one in, nor take one over to another error.
  const refusals = new WeakMap();
  const refused = (error, id) => weakSet(refusals, error, id);

  const plain = (object, key) => {
    for (let steps = 0; steps < 100 && object !== null; steps++) {
      if (classOf(object) === 'Proxy') return undefined;
      const descriptor = getOwnPropertyDescriptor(object, key);
      if (descriptor !== undefined) return descriptor.value;
      object = getPrototypeOf(object);
    }
    return undefined;
  };
  const nameOf = (error) => {
    const name = plain(error, 'name');
    if (name !== undefined && name !== 'Error' && typeof name === 'string') return name;
    const maker = plain(error, 'constructor');
    if (typeof maker === 'function') {
      const called = plain(maker, 'name');
      if (typeof called === 'string' && called !== '') return called;
    }
    return typeof name === 'string' ? name : 'Error';
  };
  // Where nothing can be inspected: a primitive as it is, anything else by its class.
  const told = (thrown) => {
    if (typeof thrown === 'symbol') return symbolToString(thrown);
    if (thrown === null || (typeof thrown !== 'object' && typeof thrown !== 'function')) return String(thrown);
    return '[object ' + classOf(thrown) + ']';
  };
  // Gives [class, message, frames, effect]; the class is undefined when it was no error.
  const describe = (thrown) => {
    if (typeof thrown === 'string') return [undefined, thrown, '', undefined];
    if (typeof thrown === 'object' && thrown !== null && classOf(thrown) === 'Error') {
      const message = plain(thrown, 'message');
      const own = getOwnPropertyDescriptor(thrown, 'stack');
      let stack = errorStack(thrown);
      if (typeof stack !== 'string') stack = own !== undefined ? own.value : '';
      const text = typeof message === 'string' ? message : '';
      return [nameOf(thrown), text, typeof stack === 'string' ? stack : '', weakGet(refusals, thrown)];
    }
    return [undefined, inspect === undefined ? told(thrown) : inspect(thrown), '', undefined];
  };
  return { __proto__: null, describe, refused };
});
