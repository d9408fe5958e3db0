// `crypto`, as far as it is offered: chance fit for secrets, SHA-2, HMAC. The bytes of a key live outside the engine,
// behind a function in a private field: no script, ours or the guest's, can read them back.
//
// For other scripts there is nothing here.
(function (native, P, need) {
  'use strict';
  const {
    list, apply, classOf, charCodeAt, indexOf, slice, iterator, typedArrays, arrayBuffer, arrayOffset, arrayBytes,
    arraySet, bufferLength, defineProperty, Uint8Array, TypeError, Number, floor,
  } = P;
  const { isObject, letters, required, iterate, copied, enumerable, tag, known } = need('idl');
  const { fail } = need('exception');
  const { uuid, randomBytes, hash, hmacKey, fromBase64Url } = native;
  const QUOTA = 65536;
  const BITS = { __proto__: null, 'SHA-256': 256, 'SHA-384': 384, 'SHA-512': 512 };
  const NAMED = { __proto__: null, 'SHA-256': 'HS256', 'SHA-384': 'HS384', 'SHA-512': 'HS512' };
  const USAGES = '\nencrypt\ndecrypt\nsign\nverify\nderiveKey\nderiveBits\nwrapKey\nunwrapKey\n';

  const random = {
    randomUUID() {
      return uuid();
    },
    getRandomValues(array) {
      required(arguments, 1, 'crypto.getRandomValues');
      const kind = isObject(array) ? classOf(array) : undefined;
      if (kind !== 'DataView' && (kind === undefined || typedArrays[kind] === undefined)) {
        throw new TypeError('The argument must be a typed array of integers.');
      }
      if (kind === 'DataView' || indexOf(kind, 'Float') === 0) {
        fail('TypeMismatchError', 'The data argument must be an integer-type TypedArray');
      }
      const length = arrayBytes(array);
      if (length > QUOTA) {
        fail(
          'QuotaExceededError',
          'The requested length of ' + length + ' bytes is over the quota of ' + QUOTA + '; ask in several calls',
        );
      }
      if (length > 0) {
        arraySet(new Uint8Array(arrayBuffer(array), arrayOffset(array), length), new Uint8Array(randomBytes(length)));
      }
      return array;
    },
  };

  // The letters of ASCII only: no other letter may turn into one of a name.
  const upper = (name) => {
    let out = '';
    for (let i = 0; i < name.length; i++) {
      const c = charCodeAt(name, i);
      out += c >= 97 && c <= 122 ? 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[c - 97] : name[i];
    }
    return out;
  };
  const nameOf = (algorithm) => {
    let name = algorithm;
    if (isObject(algorithm)) {
      name = algorithm.name;
      if (name === undefined) throw new TypeError('The algorithm has no name.');
    }
    name = letters(name);
    return name.length > 16 ? slice(name, 0, 16) + '…' : upper(name);
  };
  const HMAC = '\nname\nhash\nlength\n';
  const hashOf = (algorithm) => {
    const name = nameOf(algorithm);
    if (BITS[name] === undefined) {
      fail('NotSupportedError', name + ' is not offered; SHA-256, SHA-384 and SHA-512 are');
    }
    return name;
  };
  const mustBeHmac = (name) => {
    if (name !== 'HMAC') fail('NotSupportedError', name + ' is not offered; HMAC is');
  };

  const makers = list();
  let stateOf;
  let owns;
  class CryptoKey {
    #state;

    static {
      stateOf = (key) => key.#state;
      owns = (value) => isObject(value) && #state in value;
    }

    constructor() {
      const state = makers[0];
      if (state === undefined) throw new TypeError('Illegal constructor');
      makers.length = 0;
      this.#state = state;
    }

    get type() { this.#state; return 'secret'; }

    get extractable() { return this.#state.extractable; }

    get algorithm() { return this.#state.algorithm; }

    get usages() { return this.#state.shown; }
  }
  enumerable(CryptoKey.prototype, ['type', 'extractable', 'algorithm', 'usages']);
  tag(CryptoKey.prototype, 'CryptoKey');
  P.views[P.views.length] = (value) => {
    if (!owns(value)) return undefined;
    const { extractable, algorithm, shown } = stateOf(value);
    const pairs = list();
    pairs[0] = 'type'; pairs[1] = 'secret';
    pairs[2] = 'extractable'; pairs[3] = extractable;
    pairs[4] = 'algorithm'; pairs[5] = algorithm;
    pairs[6] = 'usages'; pairs[7] = shown;
    return { __proto__: null, between: ': ', quoted: false, pairs };
  };

  const sequence = (value, what) => {
    const method = isObject(value) ? value[iterator] : undefined;
    if (typeof method !== 'function') throw new TypeError(what + ' must be an array.');
    const items = list();
    iterate(value, method, (item) => {
      items[items.length] = letters(item);
    });
    return items;
  };
  const includes = (items, item) => {
    for (let i = 0; i < items.length; i++) if (items[i] === item) return true;
    return false;
  };
  const usagesOf = (value) => {
    const given = sequence(value, 'The key usages');
    for (let i = 0; i < given.length; i++) {
      if (given[i] === '' || indexOf(given[i], '\n') !== -1 || indexOf(USAGES, '\n' + given[i] + '\n') === -1) {
        throw new TypeError("'" + slice(given[i], 0, 40) + "' is not a key usage.");
      }
    }
    return given;
  };
  // What a JSON Web Key says, read once and in the order of the standard.
  const webKey = (value) => {
    if (!isObject(value) || classOf(value) === 'ArrayBuffer') throw new TypeError('The key data must be a JsonWebKey.');
    const read = (item) => (item === undefined ? undefined : letters(item));
    const alg = read(value.alg);
    const ext = value.ext;
    const k = read(value.k);
    const ops = value.key_ops;
    const operations = ops === undefined ? undefined : sequence(ops, 'key_ops');
    const kty = read(value.kty);
    const use = read(value.use);
    return { __proto__: null, alg, ext: ext === undefined ? undefined : !!ext, k, operations, kty, use };
  };
  const bytesOfWebKey = (key, name, extractable, usages) => {
    if (key.kty !== 'oct') fail('DataError', "The member kty of the JWK must be 'oct'");
    const bytes = key.k === undefined ? undefined : fromBase64Url(key.k);
    if (bytes === undefined) fail('DataError', 'The member k of the JWK must be base64url without padding');
    if (key.alg !== undefined && key.alg !== NAMED[name]) {
      fail('DataError', "The member alg of the JWK must be '" + NAMED[name] + "' for " + name);
    }
    if (usages.length > 0 && key.use !== undefined && key.use !== 'sig') {
      fail('DataError', "The member use of the JWK must be 'sig'");
    }
    const ops = key.operations;
    if (ops !== undefined) {
      for (let i = 0; i < ops.length; i++) {
        for (let before = 0; before < i; before++) {
          if (ops[before] === ops[i]) fail('DataError', 'The member key_ops of the JWK names an operation twice');
        }
      }
      for (let i = 0; i < usages.length; i++) {
        if (!includes(ops, usages[i])) {
          fail('DataError', "The member key_ops of the JWK does not allow '" + usages[i] + "'");
        }
      }
    }
    if (key.ext === false && extractable) fail('DataError', 'The JWK says that the key is not extractable');
    return bytes;
  };
  const makeKey = (name, bytes, asked, extractable, usages) => {
    const bits = bufferLength(bytes) * 8;
    if (bits === 0) fail('DataError', 'An HMAC key must not be empty');
    let length = bits;
    if (asked !== undefined) {
      length = Number(asked);
      if (length !== floor(length) || length > bits || length <= bits - 8) {
        fail('DataError', 'The length of the algorithm does not fit a key of ' + bits + ' bits');
      }
      if (length !== bits) fail('NotSupportedError', 'A key must be whole bytes');
    }
    const mayDo = list();
    if (includes(usages, 'sign')) mayDo[mayDo.length] = 'sign';
    if (includes(usages, 'verify')) mayDo[mayDo.length] = 'verify';
    makers[0] = {
      __proto__: null,
      mac: hmacKey(BITS[name], bytes),
      mayDo,
      extractable,
      algorithm: { name: 'HMAC', hash: { name }, length },
      shown: mayDo.length === 2 ? ['sign', 'verify'] : [mayDo[0]],
    };
    return new CryptoKey();
  };
  const keyFor = (key, algorithm, use) => {
    if (!owns(key)) throw new TypeError('The key must be a CryptoKey.');
    mustBeHmac(nameOf(algorithm));
    const state = stateOf(key);
    if (!includes(state.mayDo, use)) fail('InvalidAccessError', "The key was not imported for '" + use + "'");
    return state.mac;
  };
  // Everything gives a promise, of an error too: these are async, and await nothing.
  const subtle = {
    async digest(algorithm, data) {
      required(arguments, 2, 'crypto.subtle.digest');
      known(algorithm, 'crypto.subtle.digest', '\nname\n');
      const bytes = copied(data, 'The data');
      return hash(BITS[hashOf(algorithm)], bytes);
    },
    async importKey(format, keyData, algorithm, extractable, keyUsages) {
      required(arguments, 5, 'crypto.subtle.importKey');
      known(algorithm, 'crypto.subtle.importKey', HMAC);
      const shape = letters(format);
      if (shape !== 'raw' && shape !== 'jwk') {
        if (shape !== 'spki' && shape !== 'pkcs8') throw new TypeError("'" + slice(shape, 0, 40) + "' is no key format.");
        fail('NotSupportedError', "Keys come as 'raw' or 'jwk'");
      }
      const given = shape === 'raw' ? copied(keyData, 'The key data') : webKey(keyData);
      const allowed = !!extractable;
      const usages = usagesOf(keyUsages);
      mustBeHmac(nameOf(algorithm));
      if (!isObject(algorithm) || algorithm.hash === undefined) throw new TypeError('The algorithm has no hash.');
      const name = hashOf(algorithm.hash);
      const asked = algorithm.length;
      for (let i = 0; i < usages.length; i++) {
        if (usages[i] !== 'sign' && usages[i] !== 'verify') fail('SyntaxError', "An HMAC key is for 'sign' and 'verify'");
      }
      const bytes = shape === 'raw' ? given : bytesOfWebKey(given, name, allowed, usages);
      if (usages.length === 0) fail('SyntaxError', 'A secret key must have a usage');
      return makeKey(name, bytes, asked, allowed, usages);
    },
    async sign(algorithm, key, data) {
      required(arguments, 3, 'crypto.subtle.sign');
      known(algorithm, 'crypto.subtle.sign', HMAC);
      const bytes = copied(data, 'The data');
      return keyFor(key, algorithm, 'sign')(bytes, undefined);
    },
    async verify(algorithm, key, signature, data) {
      required(arguments, 4, 'crypto.subtle.verify');
      known(algorithm, 'crypto.subtle.verify', HMAC);
      const claimed = copied(signature, 'The signature');
      const bytes = copied(data, 'The data');
      return keyFor(key, algorithm, 'verify')(bytes, claimed);
    },
  };
  return {
    __proto__: null,
    visible: {
      __proto__: null,
      'crypto.randomUUID': random.randomUUID,
      'crypto.getRandomValues': random.getRandomValues,
      'crypto.subtle.digest': subtle.digest,
      'crypto.subtle.importKey': subtle.importKey,
      'crypto.subtle.sign': subtle.sign,
      'crypto.subtle.verify': subtle.verify,
    },
  };
});
