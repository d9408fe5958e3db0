// Response, by the Fetch standard. Of our own: `whole`, the length of the whole body where a part of it was asked for; it
// is null on a response that was not fetched. `body` and `blob()` are not offered, see bodies.js.
//
// For other scripts: `fetched(answer)` makes one of what an effect gave.
(function (native, P, need) {
  'use strict';
  const { list, charCodeAt, jsonStringify, bufferLength, Number, TypeError, RangeError } = P;
  const { isObject, text, required, member, enumerable, tag, known } = need('idl');
  const { parsed } = need('url');
  const { bytes, listOf, filled, copied, locked, combined } = need('headers');
  const { extracted, bodyOf, shared, readable } = need('bodies');
  const { encode } = need('encoding');

  const isBare = (status) => status === 101 || status === 103 || status === 204 || status === 205 || status === 304;
  // An unsigned short, as Web IDL has it.
  const short = (value) => {
    const number = Number(value);
    const whole = number - (number % 1);
    if (!(whole > -Infinity && whole < Infinity)) return 0;
    const rest = whole % 65536;
    return rest < 0 ? rest + 65536 : rest;
  };
  const initialised = (body, type, init) => {
    if (init !== undefined && init !== null && !isObject(init)) throw new TypeError('The options must be an object.');
    known(init, 'Response', '\nstatus\nstatusText\nheaders\n');
    const pairs = member(init, 'headers');
    const headers = pairs === undefined ? filled(list()) : filled(pairs);
    const given = member(init, 'status');
    const status = given === undefined ? 200 : short(given);
    const phrase = member(init, 'statusText');
    const statusText = phrase === undefined ? '' : bytes(phrase, 'The status text');
    if (status < 200 || status > 599) throw new RangeError('The status must be from 200 to 599.');
    for (let i = 0; i < statusText.length; i++) {
      const c = charCodeAt(statusText, i);
      if ((c < 32 && c !== 9) || c === 127) throw new TypeError('The status text holds a control character.');
    }
    if (body !== null) {
      if (isBare(status)) throw new TypeError('A response with the status ' + status + ' cannot have a body.');
      const held = listOf(headers);
      if (type !== undefined && combined(held, 'content-type') === null) {
        held[held.length] = 'content-type';
        held[held.length] = type;
      }
    }
    return {
      __proto__: null, type: 'default', status, statusText, headers, body, url: '', redirected: false, whole: null,
    };
  };

  const making = list();
  let stateOf;
  class Response {
    #state;

    static {
      stateOf = (value) => (isObject(value) && #state in value ? value.#state : undefined);
    }

    static error() {
      return made({
        __proto__: null, type: 'error', status: 0, statusText: '', headers: locked(list()), body: null, url: '',
        redirected: false, whole: null,
      });
    }

    static json(data, init = undefined) {
      required(arguments, 1, 'Response.json');
      const json = jsonStringify(data);
      if (json === undefined) throw new TypeError('The data cannot be written as JSON.');
      return made(initialised(bodyOf(encode(json)), 'application/json', init));
    }

    static redirect(url, status = 302) {
      required(arguments, 1, 'Response.redirect');
      const href = parsed(text(url), undefined);
      const code = short(status);
      if (href === undefined) throw new TypeError('The URL of a redirect must be absolute.');
      if (code !== 301 && code !== 302 && code !== 303 && code !== 307 && code !== 308) {
        throw new RangeError('The status of a redirect must be 301, 302, 303, 307 or 308.');
      }
      const pairs = list();
      pairs[0] = 'location';
      pairs[1] = href;
      return made({
        __proto__: null, type: 'default', status: code, statusText: '', headers: locked(pairs), body: null, url: '',
        redirected: false, whole: null,
      });
    }

    constructor(body = null, init = undefined) {
      const state = making[0];
      if (state !== undefined) {
        making.length = 0;
        this.#state = state;
        return;
      }
      if (body === null || body === undefined) {
        this.#state = initialised(null, undefined, init);
        return;
      }
      const given = extracted(body);
      this.#state = initialised(bodyOf(given.bytes), given.type, init);
    }

    get type() { return this.#state.type; }

    get url() { return this.#state.url; }

    get redirected() { return this.#state.redirected; }

    get status() { return this.#state.status; }

    get ok() {
      const { status } = this.#state;
      return status >= 200 && status <= 299;
    }

    get statusText() { return this.#state.statusText; }

    get headers() { return this.#state.headers; }

    get whole() { return this.#state.whole; }

    clone() {
      const { type, status, statusText, headers, body, url, redirected, whole } = this.#state;
      const second = shared(body);
      let same = copied(headers);
      if (type !== 'default') same = locked(listOf(same));
      return made({ __proto__: null, type, status, statusText, headers: same, body: second, url, redirected, whole });
    }
  }
  enumerable(Response, ['error', 'json', 'redirect']);
  enumerable(Response.prototype, [
    'type', 'url', 'redirected', 'status', 'ok', 'statusText', 'headers', 'whole', 'clone',
  ]);
  tag(Response.prototype, 'Response');
  const made = (state) => {
    making[0] = state;
    return new Response();
  };
  const own = (value) => {
    const state = stateOf(value);
    if (state === undefined) throw new TypeError('This is no Response.');
    return state;
  };
  readable(Response, (value) => own(value).body, (value) => combined(listOf(own(value).headers), 'content-type'));
  P.views[P.views.length] = (value) => {
    const state = stateOf(value);
    if (state === undefined) return undefined;
    const pairs = list();
    pairs[0] = 'status'; pairs[1] = state.status;
    pairs[2] = 'statusText'; pairs[3] = state.statusText;
    pairs[4] = 'headers'; pairs[5] = state.headers;
    pairs[6] = 'bodyUsed'; pairs[7] = state.body !== null && state.body.isUsed;
    pairs[8] = 'ok'; pairs[9] = state.status >= 200 && state.status <= 299;
    pairs[10] = 'redirected'; pairs[11] = state.redirected;
    pairs[12] = 'type'; pairs[13] = state.type;
    pairs[14] = 'url'; pairs[15] = state.url;
    return { __proto__: null, between: ': ', quoted: false, pairs };
  };
  const fetched = (answer) => {
    const { status, statusText, url, redirected, headers, body, whole } = answer;
    const isEmpty = isBare(status) && bufferLength(body) === 0;
    return made({
      __proto__: null, type: 'basic', status, statusText, headers: locked(headers),
      body: isEmpty ? null : bodyOf(body), url, redirected, whole,
    });
  };
  return { __proto__: null, visible: { __proto__: null, Response }, fetched };
});
