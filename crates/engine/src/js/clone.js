// structuredClone, by the HTML standard as far as this engine has the types. Getters of the input run, as they must.
(function (native, P) {
  'use strict';
  const {
    classOf, list, isArray, getPrototypeOf, getOwnPropertyDescriptor, defineProperty, hasOwn, typedArrays, errors,
    keysOf, slice, Map, Set, mapForEach, mapGet, mapHas, mapSet, setForEach, setAdd, setHas, Object, String, Number, Boolean,
    BigInt, Date, RegExp, ArrayBuffer, DataView, TypeError, Error, Array, RangeError,
    stringValue, numberValue, booleanValue, bigintValue, dateTime, regexpSource, regexpFlags, errorStack,
    bufferLength, bufferSlice, bufferResizable, bufferMaxLength, bufferDetached, bufferTransfer, Uint8Array,
    viewBuffer, viewLength, viewOffset, arrayBuffer, arrayOffset, arrayLength, arraySet,
  } = P;
  const DEEPEST = 1000;

  const refuse = (what) => {
    const error = new Error(what + ' could not be cloned.');
    define(error, 'name', 'DataCloneError');
    defineProperty(error, 'name', { __proto__: null, enumerable: false });
    throw error;
  };
  const define = (object, key, value) => {
    defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  };
  const hidden = (object, key, value) => {
    defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  };
  const flagsOf = (value) => {
    let flags = '';
    for (let i = 0; i < regexpFlags.length; i++) if (regexpFlags[i][1](value)) flags += regexpFlags[i][0];
    return flags;
  };
  const copyBuffer = (value) => {
    if (bufferDetached(value)) refuse('A detached ArrayBuffer');
    const length = bufferLength(value);
    if (!bufferResizable(value)) {
      const copy = new ArrayBuffer(length);
      fill(copy, value, length);
      return copy;
    }
    const copy = new ArrayBuffer(length, { __proto__: null, maxByteLength: bufferMaxLength(value) });
    fill(copy, value, length);
    return copy;
  };
  const fill = (to, from, length) => {
    arraySet(new Uint8Array(to, 0, length), new Uint8Array(from, 0, length));
  };
  const clone = (value, seen, depth) => {
    if (typeof value === 'symbol') refuse(P.symbolToString(value));
    if (typeof value === 'function') refuse(P.functionToString(value));
    if (typeof value !== 'object' || value === null) return value;
    if (mapHas(seen, value)) return mapGet(seen, value);
    if (depth > DEEPEST) throw new RangeError('structuredClone: nested deeper than ' + DEEPEST + ' levels');
    const kind = classOf(value);
    const keep = (copy) => {
      mapSet(seen, value, copy);
      return copy;
    };
    switch (kind) {
      case 'Boolean': return keep(Object(booleanValue(value)));
      case 'Number': return keep(Object(numberValue(value)));
      case 'String': return keep(Object(stringValue(value)));
      case 'BigInt': return keep(Object(bigintValue(value)));
      case 'Symbol': return refuse('#<Symbol>');
      case 'Date': return keep(new Date(dateTime(value)));
      case 'RegExp': return keep(new RegExp(regexpSource(value), flagsOf(value)));
      case 'ArrayBuffer': return keep(copyBuffer(value));
      case 'DataView': {
        const buffer = clone(viewBuffer(value), seen, depth + 1);
        return keep(new DataView(buffer, viewOffset(value), viewLength(value)));
      }
      case 'Map': {
        const copy = keep(new Map());
        const entries = list();
        mapForEach(value, (item, key) => {
          entries[entries.length] = key;
          entries[entries.length] = item;
        });
        for (let i = 0; i < entries.length; i += 2) {
          mapSet(copy, clone(entries[i], seen, depth + 1), clone(entries[i + 1], seen, depth + 1));
        }
        return copy;
      }
      case 'Set': {
        const copy = keep(new Set());
        const items = list();
        setForEach(value, (item) => {
          items[items.length] = item;
        });
        for (let i = 0; i < items.length; i++) setAdd(copy, clone(items[i], seen, depth + 1));
        return copy;
      }
      case 'Error': return keep(cloneError(value, seen, depth));
      case 'Array': {
        const copy = keep(new Array(value.length));
        copyProperties(value, copy, seen, depth);
        return copy;
      }
      case 'Object':
      case 'Arguments': {
        for (let i = 0; i < P.views.length; i++) if (P.views[i](value) !== undefined) refuse('An object of the platform');
        const copy = keep({});
        copyProperties(value, copy, seen, depth);
        return copy;
      }
    }
    if (typedArrays[kind] !== undefined) {
      const buffer = clone(arrayBuffer(value), seen, depth + 1);
      return keep(new typedArrays[kind](buffer, arrayOffset(value), arrayLength(value)));
    }
    return refuse('#<' + kind + '>');
  };
  const copyProperties = (from, to, seen, depth) => {
    const keys = keysOf(from);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      if (hasOwn(from, key)) define(to, key, clone(from[key], seen, depth + 1));
    }
  };
  const cloneError = (value, seen, depth) => {
    const called = '' + value.name;
    const Maker = errors[called] !== undefined ? errors[called] : Error;
    const described = getOwnPropertyDescriptor(value, 'message');
    const copy = described !== undefined && 'value' in described ? new Maker('' + described.value) : new Maker();
    const stack = errorStack(value);
    if (typeof stack === 'string') hidden(copy, 'stack', stack);
    if (hasOwn(value, 'cause')) hidden(copy, 'cause', clone(value.cause, seen, depth + 1));
    return copy;
  };
  const transferred = (options) => {
    const items = list();
    if (options === undefined || options === null) return items;
    const keys = keysOf(options);
    for (let i = 0; i < keys.length; i++) {
      if (keys[i] === 'transfer') continue;
      const shown = slice(keys[i], 0, 80);
      throw new TypeError("structuredClone: unknown option '" + shown + "'; " + native.meant(shown, '\ntransfer\n'));
    }
    const given = options.transfer;
    if (given === undefined) return items;
    if (!isArray(given)) throw new TypeError('The transfer option must be an array.');
    for (let i = 0; i < given.length; i++) {
      const item = given[i];
      if (typeof item !== 'object' || item === null || classOf(item) !== 'ArrayBuffer') {
        refuse('A value in the transfer list that is no ArrayBuffer');
      }
      if (bufferDetached(item)) refuse('A detached ArrayBuffer');
      for (let before = 0; before < i; before++) {
        if (items[before] === item) refuse('An ArrayBuffer that is twice in the transfer list');
      }
      items[i] = item;
    }
    return items;
  };
  const visible = {
    structuredClone(value, options) {
      if (arguments.length === 0) throw new TypeError("The \"value\" argument must be specified");
      const moved = transferred(options);
      const seen = new Map();
      // What moves is copied before the walk, and detached only when the walk went well.
      for (let i = 0; i < moved.length; i++) mapSet(seen, moved[i], copyBuffer(moved[i]));
      const copy = clone(value, seen, 0);
      for (let i = 0; i < moved.length; i++) bufferTransfer(moved[i]);
      return copy;
    },
  };
  return visible.structuredClone;
});
