// What the web's classes have in common, by Web IDL: how arguments become text and bytes, and what a class looks like.
//
// For other scripts: `text` (a USVString), `letters` (a DOMString), `required` (the count of arguments), `isObject`,
// `member` (of a dictionary), `iterate` (a guest's iterable, visibly, as the standard says), `source` (where the bytes
// of a BufferSource are), `enumerable` and `tag` (the shape of a class), `copied` (bytes of a BufferSource, our own),
// `known` and `optionless` (no option is ignored).
(function (native, P) {
  'use strict';
  const {
    list, apply, classOf, typedArrays, defineProperty, toStringTag, toWellFormed, String, TypeError, Uint8Array,
    ArrayBuffer, bufferLength, bufferDetached, viewBuffer, viewOffset, viewLength, arrayBuffer, arrayOffset,
    arrayBytes, arraySet, keysOf, indexOf, slice, isArray,
  } = P;
  const none = list();

  const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';
  const letters = (value) => {
    if (typeof value === 'string') return value;
    if (typeof value === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string');
    return String(value);
  };
  const text = (value) => toWellFormed(letters(value));
  const required = (args, count, what) => {
    if (args.length >= count) return;
    const plural = count === 1 ? ' argument' : ' arguments';
    throw new TypeError(what + ': ' + count + plural + ' required, but only ' + args.length + ' present.');
  };
  const member = (dictionary, key) => {
    if (dictionary === undefined || dictionary === null) return undefined;
    if (!isObject(dictionary)) throw new TypeError('The options must be an object.');
    return dictionary[key];
  };
  // An option that is misspelt must not read as none. `names` holds the known ones, each between two line breaks.
  const known = (given, what, names) => {
    if (!isObject(given)) return;
    const keys = keysOf(given);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      if (key !== '' && indexOf(key, '\n') === -1 && indexOf(names, '\n' + key + '\n') !== -1) continue;
      const shown = slice(key, 0, 80);
      throw new TypeError(what + ": unknown option '" + shown + "'; " + native.meant(shown, names));
    }
  };
  // For a function that takes `count` arguments and no options. What `map` hands over beside an item is no object, or
  // an array.
  const optionless = (args, count, what) => {
    const more = args[count];
    if (isObject(more) && !isArray(more) && typeof more !== 'function') throw new TypeError(what + ': takes no options.');
  };
  const iterate = (iterable, method, each) => {
    const iterator = apply(method, iterable, none);
    if (!isObject(iterator)) throw new TypeError('The value is not iterable.');
    const next = iterator.next;
    for (;;) {
      const step = apply(next, iterator, none);
      if (!isObject(step)) throw new TypeError('The iterator gave no object.');
      if (step.done) return;
      each(step.value);
    }
  };
  const place = (buffer, offset, length) => ({ __proto__: null, buffer, offset, length });
  const source = (value, what) => {
    const kind = typeof value === 'object' && value !== null ? classOf(value) : undefined;
    if (kind === 'ArrayBuffer') return place(value, 0, bufferLength(value));
    if (kind === 'DataView') {
      const buffer = viewBuffer(value);
      return bufferDetached(buffer) ? place(buffer, 0, 0) : place(buffer, viewOffset(value), viewLength(value));
    }
    if (kind !== undefined && typedArrays[kind] !== undefined) {
      return place(arrayBuffer(value), arrayOffset(value), arrayBytes(value));
    }
    throw new TypeError(what + ' must be an ArrayBuffer or a view of one.');
  };
  const copied = (value, what) => {
    const from = source(value, what);
    const copy = new ArrayBuffer(from.length);
    if (from.length > 0) arraySet(new Uint8Array(copy), new Uint8Array(from.buffer, from.offset, from.length));
    return copy;
  };
  const enumerable = (object, names) => {
    for (let i = 0; i < names.length; i++) defineProperty(object, names[i], { __proto__: null, enumerable: true });
  };
  const tag = (prototype, value) => {
    defineProperty(prototype, toStringTag, {
      __proto__: null, value, writable: false, enumerable: false, configurable: true,
    });
  };
  return {
    __proto__: null, isObject, letters, text, required, member, iterate, source, copied, enumerable, tag, known,
    optionless,
  };
});
