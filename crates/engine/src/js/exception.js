// The error of the web's interfaces. It is no global: a guest meets it when one is thrown.
//
// For other scripts: `DOMException`, and `fail(name, message)`, which throws one.
(function (native, P, need) {
  'use strict';
  const { list, construct, defineProperty, Error, TypeError, setPrototypeOf } = P;
  const { text, tag } = need('idl');
  const codes = {
    __proto__: null,
    IndexSizeError: 1, HierarchyRequestError: 3, WrongDocumentError: 4, InvalidCharacterError: 5,
    NoModificationAllowedError: 7, NotFoundError: 8, NotSupportedError: 9, InUseAttributeError: 10,
    InvalidStateError: 11, SyntaxError: 12, InvalidModificationError: 13, NamespaceError: 14, InvalidAccessError: 15,
    TypeMismatchError: 17, SecurityError: 18, NetworkError: 19, AbortError: 20, URLMismatchError: 21,
    QuotaExceededError: 22, TimeoutError: 23, InvalidNodeTypeError: 24, DataCloneError: 25,
  };
  const hidden = (object, key, value) => {
    defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  };
  // A function and no class: `super` would ask for the parent that a guest may have put in its place. Name, message
  // and code are plain data, so that an uncaught one can be told without running anything.
  const DOMException = function DOMException(message = '', options = 'Error') {
    if (new.target === undefined) throw new TypeError("Class constructor DOMException cannot be invoked without 'new'");
    const args = list();
    args[0] = text(message);
    let name = options;
    if (typeof options === 'object' && options !== null) {
      name = options.name === undefined ? 'Error' : options.name;
      if ('cause' in options) args[1] = { __proto__: null, cause: options.cause };
    }
    name = text(name);
    const error = construct(Error, args, new.target);
    if (args[0] === '') hidden(error, 'message', '');
    hidden(error, 'name', name);
    hidden(error, 'code', codes[name] === undefined ? 0 : codes[name]);
    return error;
  };
  defineProperty(DOMException, 'prototype', { __proto__: null, writable: false });
  setPrototypeOf(DOMException.prototype, Error.prototype);
  hidden(DOMException.prototype, 'name', 'Error');
  hidden(DOMException.prototype, 'code', 0);
  tag(DOMException.prototype, 'DOMException');
  const fail = (name, message) => {
    throw new DOMException(message, name);
  };
  return { __proto__: null, DOMException, fail };
});
