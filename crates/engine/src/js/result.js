// A value as JSON text, by the rules of results: JSON, plus `undefined` -> null, BigInt -> string, Date -> ISO string,
// Map -> object, Set -> array, bytes -> {"$bytes": base64}. What has no form is an error that names its path. As in
// JSON, a property of an object whose value is undefined is left out, and an element of an array becomes null.
// `toJSON`, getters and proxies run guest code here: everything is done within the call's bounds.
(function (native, P) {
  'use strict';
  const {
    list, isArray, classOf, typedArrays, jsonStringify, toWellFormed, keysOf, charCodeAt, apply, defineProperty,
    mapForEach, mapSet, setForEach, stringValue, numberValue, booleanValue, bigintValue, bigintToString,
    dateTime, dateISO, arrayBuffer, arrayOffset, arrayBytes, viewBuffer, viewOffset, viewLength, bufferLength,
    toBase64, symbolToString, String, Number, Map, Uint8Array, isSafeInteger,
  } = P;
  const DEEPEST = 100;
  const put = native.put;
  // A problem of the value itself, told apart from whatever the guest throws by being this very object.
  const problem = { __proto__: null, text: '' };
  let limit = 0;
  let depth = 0;
  let path = list();
  let above = list();

  const refuse = (what) => {
    problem.text = spell() + what;
    throw problem;
  };
  const over = () => {
    native.over();
    throw problem;
  };
  const write = (text) => {
    if (!put(text)) throw problem;
  };
  const isName = (key) => {
    if (key.length === 0) return false;
    for (let i = 0; i < key.length; i++) {
      const c = charCodeAt(key, i);
      const letter = (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95 || c === 36;
      if (!letter && !(i > 0 && c >= 48 && c <= 57)) return false;
    }
    return true;
  };
  const spell = () => {
    let text = 'result';
    for (let i = 0; i < depth; i++) {
      const key = path[i];
      if (typeof key === 'number') text += '[' + key + ']';
      else if (isName(key)) text += '.' + key;
      else text += '[' + jsonStringify(key) + ']';
    }
    return text;
  };
  // Half a character has no form in JSON that every reader takes: it becomes U+FFFD.
  const quoted = (text) => jsonStringify(toWellFormed(text));
  const writeString = (text) => {
    if (text.length > limit) over();
    write(quoted(text));
  };
  const writeBytes = (buffer, offset, length) => {
    if (length > limit) over();
    write('{"$bytes":"' + toBase64(new Uint8Array(buffer, offset, length)) + '"}');
  };
  const enter = (value) => {
    for (let i = 0; i < depth; i++) {
      if (above[i] === value) refuse(' is a cycle: it leads back to a value that contains it');
    }
    if (depth >= DEEPEST) {
      depth = 0;
      refuse(' is nested deeper than ' + DEEPEST + ' levels');
    }
    above[depth] = value;
    depth++;
  };
  const leave = () => {
    depth--;
    above[depth] = undefined;
  };
  // Gives false when there is nothing to write: undefined in a place where JSON leaves it out.
  const visit = (value, key, before, dropUndefined) => {
    if (typeof value === 'object' ? value !== null : typeof value === 'bigint' || typeof value === 'function') {
      const toJSON = value.toJSON;
      if (typeof toJSON === 'function') {
        const args = list();
        args[0] = key;
        value = apply(toJSON, value, args);
      }
    }
    if (value === undefined && dropUndefined) return false;
    if (before !== '') write(before);
    switch (typeof value) {
      case 'string': writeString(value); return true;
      case 'number': write(value - value === 0 ? (value === 0 ? '0' : '' + value) : 'null'); return true;
      case 'boolean': write(value ? 'true' : 'false'); return true;
      case 'undefined': write('null'); return true;
      case 'bigint': write('"' + bigintToString(value) + '"'); return true;
      case 'symbol': return refuse(' is a symbol');
      case 'function': return refuse(' is a function');
    }
    if (value === null) {
      write('null');
      return true;
    }
    const kind = classOf(value);
    switch (kind) {
      case 'String': writeString(String(value)); return true;
      case 'Number': return visit(Number(value), key, '', false);
      case 'Boolean': write(booleanValue(value) ? 'true' : 'false'); return true;
      case 'BigInt': write('"' + bigintToString(bigintValue(value)) + '"'); return true;
      case 'Symbol': return refuse(' is a symbol');
      case 'Date': {
        const time = dateTime(value);
        write(time === time ? '"' + dateISO(value) + '"' : 'null');
        return true;
      }
      case 'ArrayBuffer': writeBytes(value, 0, bufferLength(value)); return true;
      case 'DataView': writeBytes(viewBuffer(value), viewOffset(value), viewLength(value)); return true;
    }
    if (typedArrays[kind] !== undefined) {
      writeBytes(arrayBuffer(value), arrayOffset(value), arrayBytes(value));
      return true;
    }
    enter(value);
    if (isArray(value)) writeArray(value);
    else if (kind === 'Set') writeSet(value);
    else if (kind === 'Map') writeMap(value);
    else writeObject(value);
    leave();
    return true;
  };
  const writeArray = (value) => {
    write('[');
    const length = value.length;
    if (!isSafeInteger(length) || length > limit) over();
    for (let i = 0; i < length; i++) {
      path[depth - 1] = i;
      visit(value[i], '' + i, i === 0 ? '' : ',', false);
    }
    write(']');
  };
  const writeSet = (value) => {
    const items = list();
    setForEach(value, (item) => {
      items[items.length] = item;
    });
    write('[');
    for (let i = 0; i < items.length; i++) {
      path[depth - 1] = i;
      visit(items[i], '' + i, i === 0 ? '' : ',', false);
    }
    write(']');
  };
  // Two keys that are one text are one property: the later value wins, as by assignment.
  const writeMap = (value) => {
    const keys = list();
    const values = list();
    mapForEach(value, (item, key) => {
      keys[keys.length] = key;
      values[values.length] = item;
    });
    const merged = new Map();
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      const name = typeof key === 'symbol' ? symbolToString(key) : String(key);
      mapSet(merged, name, values[i]);
    }
    write('{');
    let first = true;
    mapForEach(merged, (item, name) => {
      path[depth - 1] = name;
      if (visit(item, name, (first ? '' : ',') + quoted(name) + ':', true)) first = false;
    });
    write('}');
  };
  const writeObject = (value) => {
    const keys = keysOf(value);
    write('{');
    let first = true;
    const count = keys.length;
    for (let i = 0; i < count; i++) {
      const key = keys[i];
      if (key.length > limit) over();
      path[depth - 1] = key;
      if (visit(value[key], key, (first ? '' : ',') + quoted(key) + ':', true)) first = false;
    }
    write('}');
  };
  // Gives undefined when all is written, or what is wrong with the value.
  return (value, most) => {
    limit = most;
    depth = 0;
    path = list();
    above = list();
    try {
      visit(value, '', '', false);
      return undefined;
    } catch (thrown) {
      if (thrown === problem) return problem.text;
      throw thrown;
    }
  };
});
