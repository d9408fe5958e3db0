// TextEncoder and TextDecoder by the Encoding standard, atob and btoa by the HTML standard.
//
// For other scripts: `encode(text)` gives an ArrayBuffer of UTF-8; `decode(buffer, offset, length)` gives the text of
// UTF-8 bytes, without the mark that may begin them, with U+FFFD for what is none.
(function (native, P, need) {
  'use strict';
  const { classOf, slice, list, arrayLength, arraySet, ArrayBuffer, Uint8Array, TypeError, RangeError } = P;
  const { isObject, letters, text, required, member, source, enumerable, tag, known } = need('idl');
  const { fail } = need('exception');
  const { utf8, utf8Fit, utf8Text, encodingName, decoder, toAscii, fromAscii } = native;

  class TextEncoder {
    // Here only to tell an encoder from what has its prototype.
    #brand = true;

    get encoding() {
      this.#brand;
      return 'utf-8';
    }

    encode(input = '') {
      this.#brand;
      return new Uint8Array(utf8(text(input)));
    }

    encodeInto(input, into) {
      this.#brand;
      required(arguments, 2, 'TextEncoder.encodeInto');
      const given = text(input);
      if (!isObject(into) || classOf(into) !== 'Uint8Array') throw new TypeError('The destination must be a Uint8Array.');
      const read = utf8Fit(given, arrayLength(into));
      let written = 0;
      if (read > 0) {
        const bytes = new Uint8Array(utf8(slice(given, 0, read)));
        written = arrayLength(bytes);
        arraySet(into, bytes);
      }
      return { read, written };
    }
  }
  enumerable(TextEncoder.prototype, ['encoding', 'encode', 'encodeInto']);
  tag(TextEncoder.prototype, 'TextEncoder');

  class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBOM;
    #step;

    constructor(label = 'utf-8', options = undefined) {
      const wanted = text(label);
      known(options, 'TextDecoder', '\nfatal\nignoreBOM\n');
      const fatal = !!member(options, 'fatal');
      const ignoreBOM = !!member(options, 'ignoreBOM');
      const encoding = encodingName(wanted);
      if (encoding === undefined) throw new RangeError('The encoding label is not known: ' + slice(wanted, 0, 100));
      this.#encoding = encoding;
      this.#fatal = fatal;
      this.#ignoreBOM = ignoreBOM;
      this.#step = decoder(encoding, fatal, ignoreBOM);
    }

    get encoding() { return this.#encoding; }

    get fatal() { return this.#fatal; }

    get ignoreBOM() { return this.#ignoreBOM; }

    decode(input = undefined, options = undefined) {
      const step = this.#step;
      const from = input === undefined ? nothing : source(input, 'The input');
      known(options, 'TextDecoder.decode', '\nstream\n');
      const stream = !!member(options, 'stream');
      // Reading the options may have run code that changed the buffer.
      const at = input === undefined ? from : source(input, 'The input');
      const out = step(at.buffer, at.offset, at.length, stream);
      if (out === undefined) throw new TypeError('The encoded data was not valid for encoding ' + this.#encoding);
      return out;
    }
  }
  const nothing = { __proto__: null, buffer: new ArrayBuffer(0), offset: 0, length: 0 };
  enumerable(TextDecoder.prototype, ['encoding', 'fatal', 'ignoreBOM', 'decode']);
  tag(TextDecoder.prototype, 'TextDecoder');

  const base64 = {
    atob(data) {
      required(arguments, 1, 'atob');
      const out = fromAscii(letters(data));
      if (out === undefined) fail('InvalidCharacterError', 'The string to be decoded is not correctly encoded.');
      return out;
    },
    btoa(data) {
      required(arguments, 1, 'btoa');
      const out = toAscii(letters(data));
      if (out === undefined) {
        fail('InvalidCharacterError', 'The string to be encoded contains characters outside of the Latin1 range.');
      }
      return out;
    },
  };
  return {
    __proto__: null,
    visible: { __proto__: null, TextEncoder, TextDecoder, atob: base64.atob, btoa: base64.btoa },
    encode: (given) => utf8(given),
    decode: (buffer, offset, length) => utf8Text(buffer, offset, length),
  };
});
