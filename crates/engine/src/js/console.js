// The five console methods. A line is formatted here and handed over whole; when there is no more room for lines
// nothing is formatted at all, so that a flood costs its author only steps.
(function (native, P, inspect) {
  'use strict';
  const {
    classOf, charCodeAt, slice, bigintToString, same, Number, parseInt, parseFloat, jsonStringify, getPrototypeOf,
    getOwnPropertyDescriptor, String, indexOf, functionToString,
  } = P;
  const { room, line } = native;

  const isNative = (method) => indexOf(functionToString(method), '[native code]') !== -1;
  const isCircular = (error) => {
    const found = getOwnPropertyDescriptor(error, 'message');
    return found !== undefined && typeof found.value === 'string' && indexOf(found.value, 'circular') !== -1;
  };
  const numeral = (value) => (same(value, -0) ? '-0' : '' + value);
  // Whether String(value) would run a method that the guest wrote.
  const speaksForItself = (value) => {
    let object = value;
    for (let steps = 0; steps < 100 && object !== null; steps++) {
      if (classOf(object) === 'Proxy') return false;
      const found = getOwnPropertyDescriptor(object, 'toString');
      if (found !== undefined) return typeof found.value === 'function' && !isNative(found.value);
      object = getPrototypeOf(object);
    }
    return false;
  };
  const asString = (value) => {
    switch (typeof value) {
      case 'string': return value;
      case 'number': return numeral(value);
      case 'bigint': return bigintToString(value) + 'n';
      case 'object':
        if (value === null) return 'null';
        if (classOf(value) === 'Error') return inspect(value, 0);
        return speaksForItself(value) ? String(value) : inspect(value, 0);
      default: return String(value);
    }
  };
  const asJSON = (value) => {
    try {
      const text = jsonStringify(value);
      return text === undefined ? 'undefined' : text;
    } catch (thrown) {
      if (typeof thrown === 'object' && thrown !== null && classOf(thrown) === 'Error' && isCircular(thrown)) {
        return '[Circular]';
      }
      throw thrown;
    }
  };
  const filled = (letter, value) => {
    switch (letter) {
      case 115: return asString(value);
      case 106: return asJSON(value);
      case 100:
        if (typeof value === 'bigint') return bigintToString(value) + 'n';
        return typeof value === 'symbol' ? 'NaN' : numeral(Number(value));
      case 105:
        if (typeof value === 'bigint') return bigintToString(value) + 'n';
        return typeof value === 'symbol' ? 'NaN' : numeral(parseInt(value));
      case 102: return typeof value === 'symbol' ? 'NaN' : numeral(parseFloat(value));
      case 79: return inspect(value);
      case 111: return inspect(value, 4, true);
      case 99: return '';
      default: return undefined;
    }
  };
  const format = (args) => {
    let text = '';
    let used = 0;
    const first = args.length === 0 ? undefined : args[0];
    if (typeof first === 'string') {
      used = 1;
      if (args.length === 1) return first;
      let from = 0;
      for (let i = 0; i < first.length - 1; i++) {
        if (charCodeAt(first, i) !== 37) continue;
        const letter = charCodeAt(first, i + 1);
        if (letter === 37) {
          text += slice(first, from, i) + '%';
          from = i + 2;
          i++;
        } else if (used < args.length) {
          const piece = filled(letter, args[used]);
          if (piece === undefined) continue;
          text += slice(first, from, i) + piece;
          used++;
          from = i + 2;
          i++;
        }
      }
      text += slice(first, from);
    }
    for (let i = used; i < args.length; i++) {
      if (i > 0) text += ' ';
      text += typeof args[i] === 'string' ? args[i] : inspect(args[i]);
    }
    return text;
  };
  const say = (level, args) => {
    if (room()) line(level, format(args));
  };
  const console = {
    log() { say(1, arguments); },
    info() { say(2, arguments); },
    warn() { say(3, arguments); },
    error() { say(4, arguments); },
    debug() { say(0, arguments); },
  };
  return console;
});
