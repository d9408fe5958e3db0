// FormData, by the XMLHttpRequest standard, with one difference: there is no Blob and no File, so a file is bytes with a
// name. `append(name, bytes, filename)` takes an ArrayBuffer or a view of one, and `get` gives a Uint8Array back.
//
// For other scripts: `owns(value)`; `multipart(form)` gives {bytes, type}: an ArrayBuffer and its content type;
// `parsed(text)` makes a form of application/x-www-form-urlencoded text; `isBytes(value)`.
(function (native, P, need) {
  'use strict';
  const {
    list, charCodeAt, indexOf, slice, classOf, typedArrays, push, ArrayBuffer, Uint8Array, bufferLength, arraySet,
    TypeError,
  } = P;
  const { isObject, text, required, copied, enumerable, tag } = need('idl');
  const { iterable } = need('walk');
  const { encode } = need('encoding');
  const { uuid, formDecode } = native;

  const isBytes = (value) => {
    const kind = typeof value === 'object' && value !== null ? classOf(value) : undefined;
    return kind === 'ArrayBuffer' || kind === 'DataView' || (kind !== undefined && typedArrays[kind] !== undefined);
  };
  const part = (value, filename, count, what) => {
    if (isBytes(value)) {
      const content = copied(value, 'The value');
      return { __proto__: null, content, filename: filename === undefined ? 'blob' : text(filename) };
    }
    if (count > 2) throw new TypeError(what + ': only bytes take a file name.');
    return text(value);
  };
  // Never what is kept: the guest may write into what it gets.
  const shown = (value) => (typeof value === 'string' ? value : new Uint8Array(copied(value.content, 'The value')));
  const put = (pairs, name, value) => {
    const end = pairs.length;
    pairs[end] = name;
    pairs[end + 1] = value;
  };

  let owns;
  let pairsOf;
  class FormData {
    #pairs = list();

    static {
      owns = (value) => isObject(value) && #pairs in value;
      pairsOf = (form) => form.#pairs;
    }

    constructor(form = undefined) {
      if (form !== undefined) throw new TypeError('There are no form elements here; FormData takes no argument.');
    }

    append(name, value, filename = undefined) {
      this.#pairs;
      required(arguments, 2, 'FormData.append');
      const key = text(name);
      put(this.#pairs, key, part(value, filename, arguments.length, 'FormData.append'));
    }

    delete(name) {
      this.#pairs;
      required(arguments, 1, 'FormData.delete');
      const key = text(name);
      const pairs = this.#pairs;
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
      required(arguments, 1, 'FormData.get');
      const key = text(name);
      const pairs = this.#pairs;
      for (let i = 0; i < pairs.length; i += 2) if (pairs[i] === key) return shown(pairs[i + 1]);
      return null;
    }

    getAll(name) {
      this.#pairs;
      required(arguments, 1, 'FormData.getAll');
      const key = text(name);
      const pairs = this.#pairs;
      const found = [];
      for (let i = 0; i < pairs.length; i += 2) if (pairs[i] === key) push(found, shown(pairs[i + 1]));
      return found;
    }

    has(name) {
      this.#pairs;
      required(arguments, 1, 'FormData.has');
      const key = text(name);
      const pairs = this.#pairs;
      for (let i = 0; i < pairs.length; i += 2) if (pairs[i] === key) return true;
      return false;
    }

    set(name, value, filename = undefined) {
      this.#pairs;
      required(arguments, 2, 'FormData.set');
      const key = text(name);
      const item = part(value, filename, arguments.length, 'FormData.set');
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
    }
  }
  enumerable(FormData.prototype, ['append', 'delete', 'get', 'getAll', 'has', 'set']);
  tag(FormData.prototype, 'FormData');
  iterable(FormData, 'FormData', (form) => pairsOf(form), shown);
  P.views[P.views.length] = (value) => {
    if (!owns(value)) return undefined;
    const from = pairsOf(value);
    const pairs = list();
    for (let i = 0; i < from.length; i += 2) put(pairs, from[i], shown(from[i + 1]));
    return { __proto__: null, between: ': ', quoted: true, pairs };
  };

  // Every line break as CR LF.
  const normal = (given) => {
    if (indexOf(given, '\n') === -1 && indexOf(given, '\r') === -1) return given;
    let out = '';
    let from = 0;
    for (let i = 0; i < given.length; i++) {
      const c = charCodeAt(given, i);
      if (c !== 10 && c !== 13) continue;
      out += slice(given, from, i) + '\r\n';
      if (c === 13 && i + 1 < given.length && charCodeAt(given, i + 1) === 10) i++;
      from = i + 1;
    }
    return out + slice(given, from);
  };
  const escaped = (given) => {
    let out = '';
    let from = 0;
    for (let i = 0; i < given.length; i++) {
      const c = charCodeAt(given, i);
      if (c !== 10 && c !== 13 && c !== 34) continue;
      out += slice(given, from, i) + (c === 10 ? '%0A' : c === 13 ? '%0D' : '%22');
      from = i + 1;
    }
    return from === 0 ? given : out + slice(given, from);
  };
  const joined = (pieces) => {
    let length = 0;
    for (let i = 0; i < pieces.length; i++) length += bufferLength(pieces[i]);
    const all = new ArrayBuffer(length);
    let at = 0;
    for (let i = 0; i < pieces.length; i++) {
      const size = bufferLength(pieces[i]);
      if (size > 0) arraySet(new Uint8Array(all, at, size), new Uint8Array(pieces[i]));
      at += size;
    }
    return all;
  };
  const multipart = (form) => {
    // Nobody can guess it, so no value can hold it.
    const boundary = '----formdata-' + uuid();
    const pairs = pairsOf(form);
    const pieces = list();
    let open = '';
    for (let i = 0; i < pairs.length; i += 2) {
      const value = pairs[i + 1];
      open += '--' + boundary + '\r\nContent-Disposition: form-data; name="' + escaped(normal(pairs[i])) + '"';
      if (typeof value === 'string') {
        open += '\r\n\r\n' + normal(value) + '\r\n';
        continue;
      }
      open += '; filename="' + escaped(value.filename) + '"\r\nContent-Type: application/octet-stream\r\n\r\n';
      pieces[pieces.length] = encode(open);
      pieces[pieces.length] = value.content;
      open = '\r\n';
    }
    pieces[pieces.length] = encode(open + '--' + boundary + '--\r\n');
    return { __proto__: null, bytes: joined(pieces), type: 'multipart/form-data; boundary=' + boundary };
  };
  const parsed = (query) => {
    const form = new FormData();
    const pairs = pairsOf(form);
    let from = 0;
    while (from <= query.length) {
      const found = indexOf(query, '&', from);
      const end = found === -1 ? query.length : found;
      if (end > from) {
        const piece = slice(query, from, end);
        const equals = indexOf(piece, '=');
        if (equals === -1) put(pairs, formDecode(piece), '');
        else put(pairs, formDecode(slice(piece, 0, equals)), formDecode(slice(piece, equals + 1)));
      }
      from = end + 1;
    }
    return form;
  };
  return { __proto__: null, visible: { __proto__: null, FormData }, owns, multipart, parsed, isBytes };
});
