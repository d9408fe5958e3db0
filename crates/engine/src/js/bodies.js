// The body of a Request or a Response. There are no streams: a body is there at once, as bytes, and can be read once.
// So there is no `body` on either class, and no `blob()`, because there is no Blob.
//
// For other scripts: `extracted(value)` gives {bytes, type} of a BodyInit; `bodyOf(bytes)` makes a body; `moved(body)`
// and `shared(body)` make another of it, which leaves it read, or as it is; `unused(body)` throws when it was read;
// `readable(Class, bodyOf, typeOf)` puts the readers on a class: `bodyOf(instance)` gives its body or null, and throws
// when it is no instance, `typeOf` its content type.
(function (native, P, need) {
  'use strict';
  const {
    ArrayBuffer, Uint8Array, bufferLength, defineProperty, getOwnPropertyDescriptor, jsonParse, toLowerCase, indexOf,
    slice, TypeError,
  } = P;
  const { text, copied } = need('idl');
  const { encode, decode } = need('encoding');
  const { serialised } = need('params');
  const { owns, multipart, parsed, isBytes } = need('form');

  const extracted = (value) => {
    if (isBytes(value)) return { __proto__: null, bytes: copied(value, 'The body'), type: undefined };
    if (owns(value)) return multipart(value);
    const query = serialised(value);
    if (query !== undefined) {
      return { __proto__: null, bytes: encode(query), type: 'application/x-www-form-urlencoded;charset=UTF-8' };
    }
    return { __proto__: null, bytes: encode(text(value)), type: 'text/plain;charset=UTF-8' };
  };

  const bodyOf = (bytes) => ({ __proto__: null, bytes, isUsed: false, isShared: false });
  const unused = (body) => {
    if (body !== null && body.isUsed) throw new TypeError('The body was read already.');
  };
  const moved = (body) => {
    unused(body);
    if (body === null) return null;
    const { bytes, isShared } = body;
    body.isUsed = true;
    body.bytes = undefined;
    return { __proto__: null, bytes, isUsed: false, isShared };
  };
  const shared = (body) => {
    unused(body);
    if (body === null) return null;
    body.isShared = true;
    return { __proto__: null, bytes: body.bytes, isUsed: false, isShared: true };
  };
  // The bytes of a body, which is read with that. What is not shared goes to the guest as it is, without a copy.
  const taken = (body, isGiven) => {
    if (body === null) return new ArrayBuffer(0);
    const { bytes, isShared } = moved(body);
    return isGiven && isShared ? copied(bytes, 'The body') : bytes;
  };
  const textOf = (body) => {
    const bytes = taken(body, false);
    return decode(bytes, 0, bufferLength(bytes));
  };
  const essence = (type) => {
    if (type === null) return '';
    const end = indexOf(type, ';');
    let name = toLowerCase(end === -1 ? type : slice(type, 0, end));
    while (name.length > 0 && (name[name.length - 1] === ' ' || name[name.length - 1] === '\t')) {
      name = slice(name, 0, -1);
    }
    return name;
  };
  const readable = (Class, bodyIn, typeOf) => {
    // Everything gives a promise, of an error too: these are async, and await nothing.
    const methods = {
      __proto__: null,
      get bodyUsed() {
        const body = bodyIn(this);
        return body !== null && body.isUsed;
      },
      async arrayBuffer() {
        return taken(bodyIn(this), true);
      },
      async bytes() {
        return new Uint8Array(taken(bodyIn(this), true));
      },
      async formData() {
        const body = bodyIn(this);
        const type = essence(typeOf(this));
        if (type === 'application/x-www-form-urlencoded') return parsed(textOf(body));
        unused(body);
        throw new TypeError(
          type === 'multipart/form-data'
            ? 'A body of multipart/form-data can be sent and not taken apart; read it with bytes().'
            : 'The body is no form: its content type is not application/x-www-form-urlencoded.',
        );
      },
      async json() {
        return jsonParse(textOf(bodyIn(this)));
      },
      async text() {
        return textOf(bodyIn(this));
      },
    };
    const place = (key) => {
      const found = getOwnPropertyDescriptor(methods, key);
      defineProperty(Class.prototype, key, found);
    };
    place('bodyUsed');
    place('arrayBuffer');
    place('bytes');
    place('formData');
    place('json');
    place('text');
  };
  return { __proto__: null, extracted, bodyOf, moved, shared, unused, readable };
});
