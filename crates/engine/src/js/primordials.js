// The built-ins that our own scripts use, taken before any guest runs: what a guest does to a prototype or a global
// later reaches none of them. Our scripts must use nothing that looks a name up on a guest's object: no spread, no
// `for of`, no method call on a value, no plain array (`list()` has no prototype, so no setter can lie in wait).
(function (native) {
  'use strict';
  const { apply, construct, ownKeys, getPrototypeOf, defineProperty } = Reflect;
  const { setPrototypeOf } = Object;
  const describe = Reflect.getOwnPropertyDescriptor;
  // A descriptor that inherits nothing: reading `get` of a data property must not find one on Object.prototype.
  const getOwnPropertyDescriptor = (object, key) => {
    const descriptor = describe(object, key);
    return descriptor === undefined ? undefined : setPrototypeOf(descriptor, null);
  };
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const getter = (object, key) => {
    const descriptor = object && getOwnPropertyDescriptor(object, key);
    return descriptor && descriptor.get ? uncurry(descriptor.get) : undefined;
  };
  const method = (object, key) => (object && object[key] ? uncurry(object[key]) : undefined);
  const has = (name) => typeof globalThis[name] === 'function';
  const typedArray = getPrototypeOf(Uint8Array);
  const regexpFlags = setPrototypeOf(
    [
      ['d', getter(RegExp.prototype, 'hasIndices')],
      ['g', getter(RegExp.prototype, 'global')],
      ['i', getter(RegExp.prototype, 'ignoreCase')],
      ['m', getter(RegExp.prototype, 'multiline')],
      ['s', getter(RegExp.prototype, 'dotAll')],
      ['u', getter(RegExp.prototype, 'unicode')],
      ['v', getter(RegExp.prototype, 'unicodeSets')],
      ['y', getter(RegExp.prototype, 'sticky')],
    ],
    null,
  );
  const list = () => setPrototypeOf([], null);
  const join = (parts, between) => {
    let text = '';
    for (let i = 0; i < parts.length; i++) text += i === 0 ? parts[i] : between + parts[i];
    return text;
  };
  const kinds = { __proto__: null };
  for (const name of [
    'Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array',
    'BigInt64Array', 'BigUint64Array', 'Float16Array', 'Float32Array', 'Float64Array',
  ]) {
    if (has(name)) kinds[name] = globalThis[name];
  }
  const errors = { __proto__: null };
  for (const name of ['Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError']) {
    errors[name] = globalThis[name];
  }
  return {
    __proto__: null,
    // How the scripts that make classes of ours have their instances shown: each takes a value and gives undefined, or
    // what is to be seen of it.
    views: list(),
    iterator: Symbol.iterator,
    iteratorPrototype: getPrototypeOf(getPrototypeOf([][Symbol.iterator]())),
    apply, construct, ownKeys, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf, defineProperty,
    uncurry, list, join, typedArrays: kinds, errors, regexpFlags,
    classOf: native.classOf, proxyTarget: native.proxyTarget, promiseState: native.promiseState,
    promiseResult: native.promiseResult, authorFrames: native.authorFrames,
    isArray: Array.isArray,
    Object, Array, String, Number, Boolean, Symbol, BigInt, ArrayBuffer, DataView, RegExp, Map, Set, Uint8Array,
    TypeError, RangeError, Error,
    Date: has('Date') ? Date : undefined,
    parseInt, parseFloat,
    jsonStringify: JSON.stringify, toWellFormed: uncurry(String.prototype.toWellFormed), jsonParse: JSON.parse,
    keysOf: Object.keys,
    hasOwn: Object.hasOwn,
    same: Object.is,
    propertyIsEnumerable: uncurry(Object.prototype.propertyIsEnumerable),
    functionToString: uncurry(Function.prototype.toString),
    charCodeAt: uncurry(String.prototype.charCodeAt),
    slice: uncurry(String.prototype.slice),
    indexOf: uncurry(String.prototype.indexOf),
    startsWith: uncurry(String.prototype.startsWith),
    repeat: uncurry(String.prototype.repeat),
    padStart: uncurry(String.prototype.padStart),
    padEnd: uncurry(String.prototype.padEnd),
    stringValue: uncurry(String.prototype.valueOf),
    numberValue: uncurry(Number.prototype.valueOf),
    numberToString: uncurry(Number.prototype.toString),
    booleanValue: uncurry(Boolean.prototype.valueOf),
    bigintValue: uncurry(BigInt.prototype.valueOf),
    bigintToString: uncurry(BigInt.prototype.toString),
    symbolValue: uncurry(Symbol.prototype.valueOf),
    symbolToString: uncurry(Symbol.prototype.toString),
    toStringTag: Symbol.toStringTag,
    floor: Math.floor, sqrt: Math.sqrt, max: Math.max, min: Math.min, round: Math.round,
    maxSafeInteger: Number.MAX_SAFE_INTEGER,
    isSafeInteger: Number.isSafeInteger,
    mapForEach: uncurry(Map.prototype.forEach),
    mapGet: uncurry(Map.prototype.get),
    mapSet: uncurry(Map.prototype.set),
    mapHas: uncurry(Map.prototype.has),
    mapDelete: uncurry(Map.prototype.delete),
    mapSize: getter(Map.prototype, 'size'),
    setForEach: uncurry(Set.prototype.forEach),
    setAdd: uncurry(Set.prototype.add),
    setHas: uncurry(Set.prototype.has),
    setSize: getter(Set.prototype, 'size'),
    dateTime: has('Date') ? uncurry(Date.prototype.getTime) : undefined,
    dateToString: has('Date') ? uncurry(Date.prototype.toString) : undefined,
    dateISO: has('Date') ? uncurry(Date.prototype.toISOString) : undefined,
    regexpSource: getter(RegExp.prototype, 'source'),
    errorStack: getter(Error.prototype, 'stack'),
    bufferLength: getter(ArrayBuffer.prototype, 'byteLength'),
    bufferSlice: uncurry(ArrayBuffer.prototype.slice),
    bufferResizable: getter(ArrayBuffer.prototype, 'resizable'),
    bufferMaxLength: getter(ArrayBuffer.prototype, 'maxByteLength'),
    bufferDetached: getter(ArrayBuffer.prototype, 'detached'),
    bufferTransfer: method(ArrayBuffer.prototype, 'transfer'),
    viewBuffer: getter(DataView.prototype, 'buffer'),
    viewLength: getter(DataView.prototype, 'byteLength'),
    viewOffset: getter(DataView.prototype, 'byteOffset'),
    arrayBuffer: getter(typedArray.prototype, 'buffer'),
    arrayBytes: getter(typedArray.prototype, 'byteLength'),
    arrayOffset: getter(typedArray.prototype, 'byteOffset'),
    arrayLength: getter(typedArray.prototype, 'length'),
    arraySet: uncurry(typedArray.prototype.set),
    toBase64: method(Uint8Array.prototype, 'toBase64'),
  };
});
