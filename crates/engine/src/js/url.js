// URL, by the URL standard. What a URL is made of comes from the parser as one text, a component in each line; no
// component can hold a line break.
//
// For other scripts: `parsed(input, base)` gives the href of a text, with a base or undefined, or undefined when it is
// none; `hrefOf(value)` gives the href of what is a URL, whatever its prototype says, and undefined for anything else.
(function (native, P, need) {
  'use strict';
  const { charCodeAt, indexOf, slice, list, TypeError } = P;
  const { isObject, text, required, enumerable, tag } = need('idl');
  const { linked, reload } = need('params');
  const { urlParse, urlSet } = native;
  const NAMES = [
    'href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash',
  ];
  const HREF = 0, ORIGIN = 1, PROTOCOL = 2, USERNAME = 3, PASSWORD = 4, HOST = 5, HOSTNAME = 6, PORT = 7, PATHNAME = 8,
    SEARCH = 9, HASH = 10;

  const part = (lines, which) => {
    let from = 0;
    for (let i = 0; i < which; i++) from = indexOf(lines, '\n', from) + 1;
    const end = indexOf(lines, '\n', from);
    return end === -1 ? slice(lines, from) : slice(lines, from, end);
  };
  const parse = (url, base) => {
    const input = text(url);
    return urlParse(input, base === undefined ? undefined : text(base));
  };
  const queryOf = (search) => (charCodeAt(search, 0) === 63 ? slice(search, 1) : search);

  let owns;
  let linesOf;
  let paramsOf;
  class URL {
    #lines;
    #params = undefined;

    static {
      owns = (value) => isObject(value) && #lines in value;
      linesOf = (url) => url.#lines;
      paramsOf = (url) => url.#query();
    }

    static canParse(url, base = undefined) {
      required(arguments, 1, 'URL.canParse');
      return parse(url, base) !== undefined;
    }

    static parse(url, base = undefined) {
      required(arguments, 1, 'URL.parse');
      const lines = parse(url, base);
      return lines === undefined ? null : new URL(part(lines, HREF));
    }

    constructor(url, base = undefined) {
      required(arguments, 1, 'URL');
      const lines = parse(url, base);
      if (lines === undefined) throw new TypeError('Invalid URL');
      this.#lines = lines;
    }

    #query() {
      if (this.#params === undefined) {
        this.#params = linked(queryOf(part(this.#lines, SEARCH)), (query) => {
          this.#set(SEARCH, query);
        });
      }
      return this.#params;
    }

    // What a setter cannot make sense of it ignores.
    #set(which, value) {
      const lines = urlSet(part(this.#lines, HREF), which, value);
      if (lines !== undefined) this.#lines = lines;
    }

    get href() { return part(this.#lines, HREF); }
    set href(value) {
      this.#lines;
      const lines = urlParse(text(value), undefined);
      if (lines === undefined) throw new TypeError('Invalid URL');
      this.#lines = lines;
      if (this.#params !== undefined) reload(this.#params, queryOf(part(lines, SEARCH)));
    }

    get origin() { return part(this.#lines, ORIGIN); }

    get protocol() { return part(this.#lines, PROTOCOL); }
    set protocol(value) { this.#lines; this.#set(PROTOCOL, text(value)); }

    get username() { return part(this.#lines, USERNAME); }
    set username(value) { this.#lines; this.#set(USERNAME, text(value)); }

    get password() { return part(this.#lines, PASSWORD); }
    set password(value) { this.#lines; this.#set(PASSWORD, text(value)); }

    get host() { return part(this.#lines, HOST); }
    set host(value) { this.#lines; this.#set(HOST, text(value)); }

    get hostname() { return part(this.#lines, HOSTNAME); }
    set hostname(value) { this.#lines; this.#set(HOSTNAME, text(value)); }

    get port() { return part(this.#lines, PORT); }
    set port(value) { this.#lines; this.#set(PORT, text(value)); }

    get pathname() { return part(this.#lines, PATHNAME); }
    set pathname(value) { this.#lines; this.#set(PATHNAME, text(value)); }

    get search() { return part(this.#lines, SEARCH); }
    set search(value) {
      this.#lines;
      const search = text(value);
      this.#set(SEARCH, search);
      if (this.#params !== undefined) reload(this.#params, queryOf(search));
    }

    get searchParams() { return this.#query(); }

    get hash() { return part(this.#lines, HASH); }
    set hash(value) { this.#lines; this.#set(HASH, text(value)); }

    toString() { return part(this.#lines, HREF); }

    toJSON() { return part(this.#lines, HREF); }
  }
  enumerable(URL.prototype, NAMES);
  enumerable(URL.prototype, ['searchParams', 'toString', 'toJSON']);
  enumerable(URL, ['canParse', 'parse']);
  tag(URL.prototype, 'URL');
  P.views[P.views.length] = (value) => {
    if (!owns(value)) return undefined;
    const pairs = list();
    for (let i = 0; i < NAMES.length; i++) {
      if (i === HASH) {
        pairs[pairs.length] = 'searchParams';
        pairs[pairs.length] = paramsOf(value);
      }
      pairs[pairs.length] = NAMES[i];
      pairs[pairs.length] = part(linesOf(value), i);
    }
    return { __proto__: null, between: ': ', quoted: false, pairs };
  };
  return {
    __proto__: null,
    visible: { __proto__: null, URL },
    parsed: (input, base) => {
      const lines = parse(input, base);
      return lines === undefined ? undefined : part(lines, HREF);
    },
    hrefOf: (value) => (owns(value) ? part(linesOf(value), HREF) : undefined),
  };
});
