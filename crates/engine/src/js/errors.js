// What was thrown, as text. Nothing of the guest's runs here: a getter is not called, a proxy is not asked.
(function (native, P, inspect) {
  'use strict';
  const { classOf, getOwnPropertyDescriptor, getPrototypeOf, errorStack, symbolToString, String } = P;

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
  // Gives [class, message, frames]; the class is undefined when it was no error.
  return (thrown) => {
    if (typeof thrown === 'string') return [undefined, thrown, ''];
    if (typeof thrown === 'object' && thrown !== null && classOf(thrown) === 'Error') {
      const message = plain(thrown, 'message');
      const own = getOwnPropertyDescriptor(thrown, 'stack');
      let stack = errorStack(thrown);
      if (typeof stack !== 'string') stack = own !== undefined ? own.value : '';
      return [nameOf(thrown), typeof message === 'string' ? message : '', typeof stack === 'string' ? stack : ''];
    }
    return [undefined, inspect === undefined ? told(thrown) : inspect(thrown), ''];
  };
});
