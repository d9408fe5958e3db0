// Headers, by the Fetch standard. The list is one of pairs: a name in lower case, its value, a name, its value. There are
// no forbidden names here: what may be sent is the gateway's to decide.
//
// For other scripts: `isToken(text)`; `bytes(value, what)` (a ByteString); `listOf(headers)`, the pairs themselves;
// `filled(init)` makes one of a HeadersInit; `copied(headers)`; `locked(pairs)` makes one that cannot be changed, and
// keeps the list it is given; `owns(value)`; `combined(pairs, name)`, a value or null.
(function (native, P, need) {
  'use strict';
  const {
    list, ownKeys, getOwnPropertyDescriptor, charCodeAt, indexOf, slice, toLowerCase, sort, iterator, Map, mapGet,
    mapSet, TypeError,
  } = P;
  const { isObject, letters, required, iterate, enumerable, tag } = need('idl');
  const { iterable } = need('walk');
  const SEPARATORS = '"(),/:;<=>?@[\\]{}';

  const isToken = (text) => {
    for (let i = 0; i < text.length; i++) {
      const c = charCodeAt(text, i);
      if (c <= 32 || c >= 127 || indexOf(SEPARATORS, text[i]) !== -1) return false;
    }
    return text !== '';
  };
  const bytes = (value, what) => {
    const given = letters(value);
    for (let i = 0; i < given.length; i++) {
      if (charCodeAt(given, i) > 255) {
        throw new TypeError(what + ' holds a character that is no byte, at index ' + i + '.');
      }
    }
    return given;
  };
  const isSpace = (c) => c === 32 || c === 9 || c === 10 || c === 13;
  const trimmed = (text) => {
    let start = 0;
    let end = text.length;
    while (start < end && isSpace(charCodeAt(text, start))) start++;
    while (end > start && isSpace(charCodeAt(text, end - 1))) end--;
    return slice(text, start, end);
  };
  const checkedName = (name) => {
    if (!isToken(name)) throw new TypeError("'" + slice(name, 0, 100) + "' is not a valid header name.");
    return toLowerCase(name);
  };
  const checkedValue = (name, value) => {
    for (let i = 0; i < value.length; i++) {
      const c = charCodeAt(value, i);
      if (c === 0 || c === 10 || c === 13) {
        throw new TypeError("The value of the header '" + name + "' holds a line break or a zero, at index " + i + '.');
      }
    }
    return value;
  };
  const put = (pairs, name, value) => {
    const end = pairs.length;
    pairs[end] = name;
    pairs[end + 1] = value;
  };
  const add = (pairs, name, value) => {
    const normal = trimmed(value);
    const key = checkedName(name);
    put(pairs, key, checkedValue(key, normal));
  };
  const combined = (pairs, name) => {
    let value = null;
    for (let i = 0; i < pairs.length; i += 2) {
      if (pairs[i] === name) value = value === null ? pairs[i + 1] : value + ', ' + pairs[i + 1];
    }
    return value;
  };
  // By name, each once with its values together; only cookies stay apart, because a comma is part of some.
  const arranged = (pairs) => {
    const names = list();
    const values = new Map();
    const cookies = list();
    for (let i = 0; i < pairs.length; i += 2) {
      const name = pairs[i];
      const before = mapGet(values, name);
      if (before === undefined) names[names.length] = name;
      if (name === 'set-cookie') cookies[cookies.length] = pairs[i + 1];
      mapSet(values, name, before === undefined ? pairs[i + 1] : before + ', ' + pairs[i + 1]);
    }
    sort(names);
    const out = list();
    for (let i = 0; i < names.length; i++) {
      if (names[i] !== 'set-cookie') put(out, names[i], mapGet(values, names[i]));
      else for (let at = 0; at < cookies.length; at++) put(out, 'set-cookie', cookies[at]);
    }
    return out;
  };
  const methodOf = (value) => {
    const method = value[iterator];
    if (method === undefined || method === null) return undefined;
    if (typeof method !== 'function') throw new TypeError('The headers are not iterable.');
    return method;
  };
  const fromSequence = (pairs, init, method) => {
    iterate(init, method, (pair) => {
      const inner = isObject(pair) ? methodOf(pair) : undefined;
      if (inner === undefined) throw new TypeError('Each header pair must be iterable.');
      const items = list();
      iterate(pair, inner, (item) => {
        items[items.length] = bytes(item, 'A header');
      });
      if (items.length !== 2) throw new TypeError('Each header pair must be a [name, value] tuple.');
      add(pairs, items[0], items[1]);
    });
  };
  const fromRecord = (pairs, init) => {
    const keys = ownKeys(init);
    for (let i = 0; i < keys.length; i++) {
      const found = getOwnPropertyDescriptor(init, keys[i]);
      if (found === undefined || !found.enumerable) continue;
      const name = bytes(keys[i], 'A header name');
      add(pairs, name, bytes(init[keys[i]], "The value of the header '" + slice(name, 0, 100) + "'"));
    }
  };

  let owns;
  let listOf;
  let arrangedOf;
  let filled;
  let copied;
  let locked;
  class Headers {
    #pairs = list();
    #locked = false;
    #arranged = undefined;

    static {
      owns = (value) => isObject(value) && #pairs in value;
      listOf = (headers) => headers.#pairs;
      arrangedOf = (headers) => {
        if (headers.#arranged === undefined) headers.#arranged = arranged(headers.#pairs);
        return headers.#arranged;
      };
      filled = (init) => {
        const headers = new Headers();
        headers.#fill(init);
        return headers;
      };
      copied = (headers) => {
        const copy = new Headers();
        copy.#fill(headers);
        return copy;
      };
      locked = (pairs) => {
        const headers = new Headers();
        headers.#pairs = pairs;
        headers.#locked = true;
        return headers;
      };
    }

    #fill(init) {
      if (!isObject(init)) {
        throw new TypeError('The headers must be an object, or a sequence of [name, value] pairs.');
      }
      const pairs = this.#pairs;
      if (owns(init)) {
        const from = init.#pairs;
        for (let i = 0; i < from.length; i++) pairs[i] = from[i];
        return;
      }
      const method = methodOf(init);
      if (method === undefined) fromRecord(pairs, init);
      else fromSequence(pairs, init, method);
    }

    // Called before every change: the list is arranged anew after it.
    #open() {
      if (this.#locked) throw new TypeError('These headers are immutable.');
      this.#arranged = undefined;
      return this.#pairs;
    }

    constructor(init = undefined) {
      if (init !== undefined) this.#fill(init);
    }

    append(name, value) {
      this.#pairs;
      required(arguments, 2, 'Headers.append');
      const key = bytes(name, 'The header name');
      const given = trimmed(bytes(value, 'The header value'));
      const lower = checkedName(key);
      checkedValue(lower, given);
      put(this.#open(), lower, given);
    }

    delete(name) {
      this.#pairs;
      required(arguments, 1, 'Headers.delete');
      const key = checkedName(bytes(name, 'The header name'));
      const pairs = this.#open();
      let kept = 0;
      for (let i = 0; i < pairs.length; i += 2) {
        if (pairs[i] === key) continue;
        pairs[kept] = pairs[i];
        pairs[kept + 1] = pairs[i + 1];
        kept += 2;
      }
      pairs.length = kept;
    }

    get(name) {
      this.#pairs;
      required(arguments, 1, 'Headers.get');
      return combined(this.#pairs, checkedName(bytes(name, 'The header name')));
    }

    getSetCookie() {
      const pairs = this.#pairs;
      const found = [];
      for (let i = 0; i < pairs.length; i += 2) if (pairs[i] === 'set-cookie') P.push(found, pairs[i + 1]);
      return found;
    }

    has(name) {
      this.#pairs;
      required(arguments, 1, 'Headers.has');
      return combined(this.#pairs, checkedName(bytes(name, 'The header name'))) !== null;
    }

    set(name, value) {
      this.#pairs;
      required(arguments, 2, 'Headers.set');
      const key = bytes(name, 'The header name');
      const given = trimmed(bytes(value, 'The header value'));
      const lower = checkedName(key);
      checkedValue(lower, given);
      const pairs = this.#open();
      let kept = 0;
      let done = false;
      for (let i = 0; i < pairs.length; i += 2) {
        let now = pairs[i + 1];
        if (pairs[i] === lower) {
          if (done) continue;
          done = true;
          now = given;
        }
        pairs[kept] = pairs[i];
        pairs[kept + 1] = now;
        kept += 2;
      }
      pairs.length = kept;
      if (!done) put(pairs, lower, given);
    }
  }
  enumerable(Headers.prototype, ['append', 'delete', 'get', 'getSetCookie', 'has', 'set']);
  tag(Headers.prototype, 'Headers');
  iterable(Headers, 'Headers', arrangedOf, (value) => value);
  P.views[P.views.length] = (value) => {
    if (!owns(value)) return undefined;
    return { __proto__: null, between: ': ', quoted: true, pairs: arrangedOf(value) };
  };
  return {
    __proto__: null,
    visible: { __proto__: null, Headers },
    isToken, bytes, listOf, filled, copied, locked, owns, combined,
  };
});
