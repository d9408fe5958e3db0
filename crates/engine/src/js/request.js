// Request, by the Fetch standard. What only a browser has (mode, credentials, cache, referrer …) is taken where it changes
// nothing here, and an error where code would rely on it (integrity, a mode or cache that must refuse). Of our own: `maxBytes` and `offset`, which ask for a part of what is fetched.
//
// For other scripts: `prepared(input, init)` gives what `fetch` has to do: {method, url, headers, body, redirect, signal
// (a state, or null), maxBytes, offset}.
(function (native, P, need) {
  'use strict';
  const { list, slice, toUpperCase, indexOf, isSafeInteger, TypeError, RangeError } = P;
  const { isObject, letters, text, required, member, enumerable, tag, known } = need('idl');
  const { parsed, hrefOf } = need('url');
  const { isToken, bytes, listOf, filled, copied, combined } = need('headers');
  const { extracted, bodyOf, moved, shared, unused, readable } = need('bodies');
  const { stateOf: signalState, following } = need('abort');
  const OFFERED = '\nGET\nHEAD\nPOST\nPUT\nPATCH\nDELETE\nOPTIONS\n';
  // What is written in other letters too; PATCH is not, by the standard.
  const NORMALISED = '\nGET\nHEAD\nPOST\nPUT\nDELETE\nOPTIONS\n';
  const FORBIDDEN = '\nCONNECT\nTRACE\nTRACK\n';
  const REDIRECTS = { __proto__: null, follow: 0, error: 1, manual: 2 };

  const OPTIONS = '\nbody\nheaders\nmaxBytes\nmethod\noffset\nredirect\nsignal\nmode\ncredentials\ncache\nkeepalive\n' +
    'referrer\nreferrerPolicy\npriority\nduplex\nwindow\nintegrity\n';
  // There is no page, no cookie, no cache and no referrer: of these only the values that ask for nothing else.
  const MODES = '\ncors\nno-cors\n';
  const CACHES = '\ndefault\nno-store\nreload\nno-cache\nforce-cache\n';
  const oneOf = (init, what, key, values) => {
    const value = member(init, key);
    if (value === undefined) return;
    const shown = letters(value);
    if (indexOf(shown, '\n') !== -1 || indexOf(values, '\n' + shown + '\n') === -1) {
      throw new TypeError(what + ': the option ' + key + " cannot be '" + slice(shown, 0, 40) + "' here; leave it out.");
    }
  };
  const unchecked = (init, what) => {
    const integrity = member(init, 'integrity');
    if (integrity === undefined || letters(integrity) === '') return;
    throw new TypeError(what + ': the option integrity is not supported; compare crypto.subtle.digest of the body.');
  };
  const methodOf = (given) => {
    const method = bytes(given, 'The method');
    const shown = "'" + slice(method, 0, 40) + "'";
    if (!isToken(method)) throw new TypeError(shown + ' is not a valid HTTP method.');
    const upper = toUpperCase(method);
    if (indexOf(FORBIDDEN, '\n' + upper + '\n') !== -1) throw new TypeError('The method ' + shown + ' is forbidden.');
    if (indexOf(NORMALISED, '\n' + upper + '\n') !== -1) return upper;
    if (indexOf(OFFERED, '\n' + method + '\n') === -1) {
      throw new TypeError(
        'The method ' + shown + ' is not offered; GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS are.',
      );
    }
    return method;
  };
  const urlOf = (input) => {
    const own = hrefOf(input);
    if (own !== undefined) return own;
    const given = text(input);
    const url = parsed(given, undefined);
    if (url === undefined) {
      throw new TypeError(
        "'" + slice(given, 0, 200) + "' is no absolute URL; there is no page that it could be relative to.",
      );
    }
    return url;
  };
  const count = (init, key, before) => {
    const value = member(init, key);
    if (value === undefined) return before;
    if (typeof value !== 'number' || !isSafeInteger(value) || value < 0) {
      throw new RangeError('The option ' + key + ' must be a whole number that is not negative.');
    }
    return value;
  };
  // What was given in place of what a Request has, each read once, in the order of their names.
  const chosen = (input, init, what) => {
    const from = stateOf(input);
    const url = from === undefined ? urlOf(input) : from.url;
    if (init !== undefined && init !== null && !isObject(init)) throw new TypeError('The options must be an object.');
    known(init, what, OPTIONS);
    const content = member(init, 'body');
    const given = content === undefined || content === null ? null : extracted(content);
    oneOf(init, what, 'cache', CACHES);
    const pairs = member(init, 'headers');
    const headers = pairs !== undefined ? filled(pairs) : from !== undefined ? copied(from.headers) : filled(list());
    unchecked(init, what);
    const maxBytes = count(init, 'maxBytes', from === undefined ? undefined : from.maxBytes);
    const verb = member(init, 'method');
    const method = verb !== undefined ? methodOf(verb) : from !== undefined ? from.method : 'GET';
    oneOf(init, what, 'mode', MODES);
    const offset = count(init, 'offset', from === undefined ? undefined : from.offset);
    const mode = member(init, 'redirect');
    let redirect = from === undefined ? 'follow' : from.redirect;
    if (mode !== undefined) {
      redirect = letters(mode);
      if (REDIRECTS[redirect] === undefined) {
        throw new TypeError("The option redirect must be 'follow', 'error' or 'manual'.");
      }
    }
    const until = member(init, 'signal');
    let signal = from === undefined ? null : from.signal;
    if (until === null) signal = null;
    else if (until !== undefined) {
      signal = signalState(until);
      if (signal === undefined) throw new TypeError('The option signal must be an AbortSignal.');
    }
    const inherited = given === null && from !== undefined ? from.body : null;
    if ((given !== null || inherited !== null) && (method === 'GET' || method === 'HEAD')) {
      throw new TypeError('A request with the method ' + method + ' cannot have a body.');
    }
    unused(inherited);
    let body = null;
    if (given !== null) {
      body = bodyOf(given.bytes);
      const held = listOf(headers);
      if (given.type !== undefined && combined(held, 'content-type') === null) {
        held[held.length] = 'content-type';
        held[held.length] = given.type;
      }
    } else if (inherited !== null) {
      body = moved(inherited);
    }
    return { __proto__: null, method, url, headers, body, redirect, signal, maxBytes, offset };
  };
  const followed = (signal) => {
    const sources = list();
    if (signal !== null) sources[0] = signal;
    return following(sources);
  };

  const making = list();
  let stateOf;
  class Request {
    #state;

    static {
      stateOf = (value) => (isObject(value) && #state in value ? value.#state : undefined);
    }

    constructor(input, init = undefined) {
      const copy = making[0];
      if (copy !== undefined) {
        making.length = 0;
        this.#state = copy;
        return;
      }
      required(arguments, 1, 'Request');
      const state = chosen(input, init, 'Request');
      state.signal = followed(state.signal);
      this.#state = state;
    }

    get method() { return this.#state.method; }

    get url() { return this.#state.url; }

    get headers() { return this.#state.headers; }

    get redirect() { return this.#state.redirect; }

    get signal() { return this.#state.signal.signal; }

    clone() {
      const { method, url, headers, body, redirect, signal, maxBytes, offset } = this.#state;
      const copy = {
        __proto__: null, method, url, headers: copied(headers), body: shared(body), redirect, signal: followed(signal),
        maxBytes, offset,
      };
      making[0] = copy;
      return new Request();
    }
  }
  enumerable(Request.prototype, ['method', 'url', 'headers', 'redirect', 'signal', 'clone']);
  tag(Request.prototype, 'Request');
  const own = (value) => {
    const state = stateOf(value);
    if (state === undefined) throw new TypeError('This is no Request.');
    return state;
  };
  readable(Request, (value) => own(value).body, (value) => combined(listOf(own(value).headers), 'content-type'));
  P.views[P.views.length] = (value) => {
    const state = stateOf(value);
    if (state === undefined) return undefined;
    const pairs = list();
    pairs[0] = 'method'; pairs[1] = state.method;
    pairs[2] = 'url'; pairs[3] = state.url;
    pairs[4] = 'headers'; pairs[5] = state.headers;
    pairs[6] = 'redirect'; pairs[7] = state.redirect;
    pairs[8] = 'bodyUsed'; pairs[9] = state.body !== null && state.body.isUsed;
    return { __proto__: null, between: ': ', quoted: false, pairs };
  };
  // As for `fetch`: what `new Request` would make, without a signal of its own.
  const prepared = (input, init) => {
    const { method, url, headers, body, redirect, signal, maxBytes, offset } = chosen(input, init, 'fetch');
    const flat = list();
    const from = listOf(headers);
    for (let i = 0; i < from.length; i++) flat[i] = from[i];
    return {
      __proto__: null, method, url, headers: flat, body, redirect: REDIRECTS[redirect], signal, maxBytes, offset,
    };
  };
  return { __proto__: null, visible: { __proto__: null, Request }, prepared };
});
