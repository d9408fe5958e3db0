// safety.parser: HTML, XML, CSV and YAML to plain data and back. The work is done in Rust and comes back as JSON text,
// so what a guest gets are plain objects of its own realm. Options are read once, in the order in which they stand here.
(function (native, P, need) {
  'use strict';
  const { isArray, defineProperty, jsonParse, jsonStringify, slice, charCodeAt, indexOf, Error, TypeError } = P;
  const { isObject, known, optionless } = need('idl');
  const {
    parseHtmlSelect, parseHtmlText, parseHtmlAttribute, parseHtmlTables, parseHtmlMain, parseHtmlLinks, parseXml,
    parseCsv, writeCsv, parseYaml, writeYaml, parserInput,
  } = native;

  const put = (object, key, value) => {
    defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  };
  const fail = (reason, message) => {
    const error = new Error(message);
    put(error, 'code', 'PARSE_FAILED');
    put(error, 'reason', reason);
    throw error;
  };
  // Rust gives the result behind `+`, or behind `-` a reason and a message, each in a line.
  const finished = (given) => {
    if (given[0] === '+') return slice(given, 1);
    const end = indexOf(given, '\n');
    return fail(slice(given, 1, end), slice(given, end + 1));
  };
  // Each character is a byte at least: what has too many is not even copied.
  const bounded = (value) => {
    if (value.length <= parserInput) return value;
    return fail('too-large', 'the text has more than the limit of ' + parserInput + ' bytes');
  };
  const parsed = (given) => jsonParse(finished(given));
  const wrong = (what, wanted) => {
    throw new TypeError(what + ' must be ' + wanted + '.');
  };
  const text = (value, what) => (typeof value === 'string' ? bounded(value) : wrong(what, 'a string'));
  const optionalText = (value, what) => (value === undefined ? undefined : text(value, what));
  const given = (options, what, names) => {
    if (options !== undefined && (!isObject(options) || isArray(options))) wrong(what + ': the options', 'an object');
    known(options, what, names);
    return options;
  };
  const option = (options, key) => (options === undefined ? undefined : options[key]);
  const flag = (value, what) => {
    if (value === undefined) return false;
    return typeof value === 'boolean' ? value : wrong(what, 'true or false');
  };
  const mark = (value, what, otherwise) => {
    if (value === undefined) return otherwise;
    return typeof value === 'string' && value.length === 1 ? value : wrong(what, 'a string of one character');
  };
  // A guest's array of names as JSON of our own making: its items are read once, by their numbers.
  const names = (value, what) => {
    const count = value.length;
    let all = '[';
    for (let i = 0; i < count; i++) {
      all += (i === 0 ? '' : ',') + jsonStringify(text(value[i], what));
    }
    return all + ']';
  };
  // True, false or names: what `header` and `columns` can be.
  const header = (value, what) => {
    if (value === undefined || value === true) return 'first';
    if (value === false) return 'none';
    return isArray(value) ? names(value, what) : wrong(what, 'true, false or an array of names');
  };
  const written = (value, what, replacer) => {
    const json = jsonStringify(value, replacer);
    return json === undefined ? wrong(what, 'plain data') : bounded(json);
  };
  // JSON has no word for an infinite number and would write null: a text stands for it that begins with U+0000, and
  // a text that begins so on its own has it twice.
  const widened = (key, value) => {
    if (typeof value === 'number' && value - value !== 0) {
      if (value !== value) wrong('safety.parser.yaml.stringify: a number', 'a number, not NaN');
      return value > 0 ? '\0.inf' : '\0-.inf';
    }
    return typeof value === 'string' && value !== '' && charCodeAt(value, 0) === 0 ? '\0' + value : value;
  };

  const html = {
    select(page, selector, options = undefined) {
      const from = text(page, 'safety.parser.html.select: the page');
      const css = text(selector, 'safety.parser.html.select: the selector');
      const limit = option(given(options, 'safety.parser.html.select', '\nlimit\n'), 'limit');
      if (limit !== undefined && !(typeof limit === 'number' && limit >= 0 && limit <= 4294967295 && limit % 1 === 0)) {
        wrong('safety.parser.html.select: limit', 'a whole number that is not negative');
      }
      return parsed(parseHtmlSelect(from, css, limit));
    },
    text(page, selector = undefined) {
      optionless(arguments, 2, 'safety.parser.html.text');
      const from = text(page, 'safety.parser.html.text: the page');
      return parsed(parseHtmlText(from, optionalText(selector, 'safety.parser.html.text: the selector')));
    },
    attribute(page, selector, name) {
      optionless(arguments, 3, 'safety.parser.html.attribute');
      const from = text(page, 'safety.parser.html.attribute: the page');
      const css = text(selector, 'safety.parser.html.attribute: the selector');
      return parsed(parseHtmlAttribute(from, css, text(name, 'safety.parser.html.attribute: the name')));
    },
    tables(page, options = undefined) {
      const from = text(page, 'safety.parser.html.tables: the page');
      const all = given(options, 'safety.parser.html.tables', '\nselector\nheader\n');
      const selector = optionalText(option(all, 'selector'), 'safety.parser.html.tables: selector');
      const objects = flag(option(all, 'header'), 'safety.parser.html.tables: header');
      return parsed(parseHtmlTables(from, selector, objects));
    },
    main(page) {
      optionless(arguments, 1, 'safety.parser.html.main');
      return parsed(parseHtmlMain(text(page, 'safety.parser.html.main: the page')));
    },
    links(page, options = undefined) {
      const from = text(page, 'safety.parser.html.links: the page');
      const base = option(given(options, 'safety.parser.html.links', '\nbase\n'), 'base');
      return parsed(parseHtmlLinks(from, optionalText(base, 'safety.parser.html.links: base')));
    },
  };
  const xml = {
    parse(document) {
      optionless(arguments, 1, 'safety.parser.xml.parse');
      return parsed(parseXml(text(document, 'safety.parser.xml.parse: the document')));
    },
  };
  const csv = {
    parse(rows, options = undefined) {
      const from = text(rows, 'safety.parser.csv.parse: the text');
      const all = given(options, 'safety.parser.csv.parse', '\nheader\ndelimiter\nquote\ntrim\n');
      const columns = header(option(all, 'header'), 'safety.parser.csv.parse: header');
      const delimiter = mark(option(all, 'delimiter'), 'safety.parser.csv.parse: delimiter', ',');
      const quote = mark(option(all, 'quote'), 'safety.parser.csv.parse: quote', '"');
      const trim = flag(option(all, 'trim'), 'safety.parser.csv.parse: trim');
      return parsed(parseCsv(from, columns, delimiter + quote, trim));
    },
    stringify(rows, options = undefined) {
      if (!isArray(rows)) wrong('safety.parser.csv.stringify: the rows', 'an array');
      const all = given(options, 'safety.parser.csv.stringify', '\nheader\ndelimiter\nquote\nquoteAll\n');
      const columns = header(option(all, 'header'), 'safety.parser.csv.stringify: header');
      const delimiter = mark(option(all, 'delimiter'), 'safety.parser.csv.stringify: delimiter', ',');
      const quote = mark(option(all, 'quote'), 'safety.parser.csv.stringify: quote', '"');
      const always = flag(option(all, 'quoteAll'), 'safety.parser.csv.stringify: quoteAll');
      const json = written(rows, 'safety.parser.csv.stringify: the rows', undefined);
      return finished(writeCsv(json, columns, delimiter + quote, always));
    },
  };
  const yaml = {
    parse(document) {
      optionless(arguments, 1, 'safety.parser.yaml.parse');
      return parsed(parseYaml(text(document, 'safety.parser.yaml.parse: the text'), false));
    },
    parseAll(documents) {
      optionless(arguments, 1, 'safety.parser.yaml.parseAll');
      return parsed(parseYaml(text(documents, 'safety.parser.yaml.parseAll: the text'), true));
    },
    stringify(value) {
      optionless(arguments, 1, 'safety.parser.yaml.stringify');
      return finished(writeYaml(written(value, 'safety.parser.yaml.stringify: the value', widened)));
    },
  };
  return {
    __proto__: null,
    visible: {
      __proto__: null,
      'safety.parser.html': html,
      'safety.parser.xml': xml,
      'safety.parser.csv': csv,
      'safety.parser.yaml': yaml,
    },
  };
});
