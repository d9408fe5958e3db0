// URLSearchParams, by the URL standard. The pairs are one list: a name, its value, a name, its value.
//
// For other scripts: `serialised(value)` gives the text of what is a URLSearchParams, whatever its prototype says, and
// undefined for anything else; `linked(query, update)` makes one that tells `update` its text after every change;
// `reload(params, query)` fills one anew without telling.
(function (native, P, need) {
  'use strict';
  const {
    list, apply, ownKeys, getOwnPropertyDescriptor, charCodeAt, indexOf, slice, toWellFormed, TypeError, iterator,
    iteratorPrototype, setPrototypeOf, defineProperty,
  } = P;
  const { isObject, text, required, iterate, enumerable, tag } = need('idl');
  const { formDecode, formEncode } = native;

  const put = (pairs, name, value) => {
    const end = pairs.length;
    pairs[end] = name;
    pairs[end + 1] = value;
  };
  const decoded = (piece) => {
    if (indexOf(piece, '%') === -1 && indexOf(piece, '+') === -1) return toWellFormed(piece);
    return formDecode(piece);
  };
  const parse = (query, pairs) => {
    let from = 0;
    while (from <= query.length) {
      const found = indexOf(query, '&', from);
      const end = found === -1 ? query.length : found;
      if (end > from) {
        const piece = slice(query, from, end);
        const equals = indexOf(piece, '=');
        if (equals === -1) put(pairs, decoded(piece), '');
        else put(pairs, decoded(slice(piece, 0, equals)), decoded(slice(piece, equals + 1)));
      }
      from = end + 1;
    }
  };
  const serialise = (pairs) => {
    let out = '';
    for (let i = 0; i < pairs.length; i += 2) {
      out += (i === 0 ? '' : '&') + formEncode(pairs[i]) + '=' + formEncode(pairs[i + 1]);
    }
    return out;
  };
  const methodOf = (value) => {
    const method = value[iterator];
    if (method === undefined || method === null) return undefined;
    if (typeof method !== 'function') throw new TypeError('The value is not iterable.');
    return method;
  };
  const fromSequence = (pairs, init, method) => {
    iterate(init, method, (pair) => {
      const inner = isObject(pair) ? methodOf(pair) : undefined;
      if (inner === undefined) throw new TypeError('Each query pair must be iterable.');
      const items = list();
      iterate(pair, inner, (item) => {
        items[items.length] = text(item);
      });
      if (items.length !== 2) throw new TypeError('Each query pair must be a [name, value] tuple.');
      put(pairs, items[0], items[1]);
    });
  };
  const fromRecord = (pairs, init) => {
    const keys = ownKeys(init);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      const found = getOwnPropertyDescriptor(init, key);
      if (found === undefined || !found.enumerable) continue;
      const name = text(key);
      const value = text(init[key]);
      // Two keys that are one text once they are well-formed are one entry.
      let at = 0;
      while (at < pairs.length && pairs[at] !== name) at = name === key ? pairs.length : at + 2;
      if (at < pairs.length) pairs[at + 1] = value;
      else put(pairs, name, value);
    }
  };
  // By the name's code units; what is equal keeps its order.
  const sorted = (pairs) => {
    const count = pairs.length / 2;
    let from = pairs;
    for (let width = 1; width < count; width *= 2) {
      const to = list();
      for (let start = 0; start < count; start += 2 * width) {
        const middle = start + width < count ? start + width : count;
        const end = start + 2 * width < count ? start + 2 * width : count;
        let a = start;
        let b = middle;
        while (a < middle || b < end) {
          if (b >= end || (a < middle && from[2 * a] <= from[2 * b])) {
            put(to, from[2 * a], from[2 * a + 1]);
            a++;
          } else {
            put(to, from[2 * b], from[2 * b + 1]);
            b++;
          }
        }
      }
      from = to;
    }
    return from;
  };

  let pairsOf;
  let owns;
  let linked;
  let reload;
  class URLSearchParams {
    #pairs = list();
    #update = undefined;

    static {
      pairsOf = (params) => params.#pairs;
      owns = (value) => isObject(value) && #pairs in value;
      linked = (query, update) => {
        const params = new URLSearchParams();
        params.#update = update;
        parse(query, params.#pairs);
        return params;
      };
      reload = (params, query) => {
        params.#pairs = list();
        parse(query, params.#pairs);
      };
    }

    #changed() {
      const update = this.#update;
      if (update !== undefined) update(serialise(this.#pairs));
    }

    constructor(init = undefined) {
      if (init === undefined) return;
      if (isObject(init)) {
        const method = methodOf(init);
        if (method === undefined) fromRecord(this.#pairs, init);
        else fromSequence(this.#pairs, init, method);
        return;
      }
      const query = text(init);
      parse(charCodeAt(query, 0) === 63 ? slice(query, 1) : query, this.#pairs);
    }

    get size() {
      return this.#pairs.length / 2;
    }

    append(name, value) {
      this.#pairs;
      required(arguments, 2, 'URLSearchParams.append');
      const key = text(name);
      const item = text(value);
      put(this.#pairs, key, item);
      this.#changed();
    }

    delete(name, value = undefined) {
      this.#pairs;
      required(arguments, 1, 'URLSearchParams.delete');
      const key = text(name);
      const item = value === undefined ? undefined : text(value);
      const pairs = this.#pairs;
      let kept = 0;
      for (let i = 0; i < pairs.length; i += 2) {
        if (pairs[i] === key && (item === undefined || pairs[i + 1] === item)) continue;
        pairs[kept] = pairs[i];
        pairs[kept + 1] = pairs[i + 1];
        kept += 2;
      }
      pairs.length = kept;
      this.#changed();
    }

    get(name) {
      this.#pairs;
      required(arguments, 1, 'URLSearchParams.get');
      const key = text(name);
      const pairs = this.#pairs;
      for (let i = 0; i < pairs.length; i += 2) if (pairs[i] === key) return pairs[i + 1];
      return null;
    }

    getAll(name) {
      this.#pairs;
      required(arguments, 1, 'URLSearchParams.getAll');
      const key = text(name);
      const pairs = this.#pairs;
      const found = [];
      for (let i = 0; i < pairs.length; i += 2) {
        if (pairs[i] !== key) continue;
        // Defined and not assigned: a guest may have put a setter where this index would be looked for.
        defineProperty(found, found.length, {
          __proto__: null, value: pairs[i + 1], writable: true, enumerable: true, configurable: true,
        });
      }
      return found;
    }

    has(name, value = undefined) {
      this.#pairs;
      required(arguments, 1, 'URLSearchParams.has');
      const key = text(name);
      const item = value === undefined ? undefined : text(value);
      const pairs = this.#pairs;
      for (let i = 0; i < pairs.length; i += 2) {
        if (pairs[i] === key && (item === undefined || pairs[i + 1] === item)) return true;
      }
      return false;
    }

    set(name, value) {
      this.#pairs;
      required(arguments, 2, 'URLSearchParams.set');
      const key = text(name);
      const item = text(value);
      const pairs = this.#pairs;
      let kept = 0;
      let done = false;
      for (let i = 0; i < pairs.length; i += 2) {
        let now = pairs[i + 1];
        if (pairs[i] === key) {
          if (done) continue;
          done = true;
          now = item;
        }
        pairs[kept] = pairs[i];
        pairs[kept + 1] = now;
        kept += 2;
      }
      pairs.length = kept;
      if (!done) put(pairs, key, item);
      this.#changed();
    }

    sort() {
      this.#pairs = sorted(this.#pairs);
      this.#changed();
    }

    toString() {
      return serialise(this.#pairs);
    }

    entries() {
      this.#pairs;
      return new Walk(this, 0);
    }

    keys() {
      this.#pairs;
      return new Walk(this, 1);
    }

    values() {
      this.#pairs;
      return new Walk(this, 2);
    }

    forEach(callback, thisArg = undefined) {
      this.#pairs;
      required(arguments, 1, 'URLSearchParams.forEach');
      if (typeof callback !== 'function') throw new TypeError('The callback must be a function.');
      for (let i = 0; i < this.#pairs.length; i += 2) {
        const args = list();
        args[0] = this.#pairs[i + 1];
        args[1] = this.#pairs[i];
        args[2] = this;
        apply(callback, thisArg, args);
      }
    }
  }
  class Walk {
    #params;
    #kind;
    #at = 0;

    constructor(params, kind) {
      this.#params = params;
      this.#kind = kind;
    }

    next() {
      const kind = this.#kind;
      const pairs = pairsOf(this.#params);
      const at = this.#at;
      if (at >= pairs.length) return { value: undefined, done: true };
      this.#at = at + 2;
      const value = kind === 0 ? [pairs[at], pairs[at + 1]] : pairs[at + kind - 1];
      return { value, done: false };
    }
  }
  delete Walk.prototype.constructor;
  setPrototypeOf(Walk.prototype, iteratorPrototype);
  tag(Walk.prototype, 'URLSearchParams Iterator');
  enumerable(Walk.prototype, ['next']);
  enumerable(URLSearchParams.prototype, [
    'size', 'append', 'delete', 'get', 'getAll', 'has', 'set', 'sort', 'toString', 'entries', 'keys', 'values',
    'forEach',
  ]);
  tag(URLSearchParams.prototype, 'URLSearchParams');
  defineProperty(URLSearchParams.prototype, iterator, {
    __proto__: null, value: URLSearchParams.prototype.entries, writable: true, enumerable: false, configurable: true,
  });
  P.views[P.views.length] = (value) => {
    if (!owns(value)) return undefined;
    return { __proto__: null, between: ' => ', quoted: true, pairs: pairsOf(value) };
  };
  return {
    __proto__: null,
    visible: { __proto__: null, URLSearchParams },
    serialised: (value) => (owns(value) ? serialise(pairsOf(value)) : undefined),
    linked,
    reload,
  };
});
