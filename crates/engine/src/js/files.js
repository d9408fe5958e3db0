// safety.fs: files, through the host. Every function waits for its answer, and gives plain values of its own. Arguments are
// checked for what they are, never for what they may: that the host does.
(function (native, P, need) {
  'use strict';
  const {
    list, isArray, getOwnPropertyDescriptor, isSafeInteger, jsonParse, toWellFormed, Uint8Array, Error, TypeError,
    RangeError, errors,
  } = P;
  const { isObject, copied, known, optionless } = need('idl');
  const { encode } = need('encoding');
  const { effects } = native;
  const { SyntaxError } = errors;
  const MOST_FIELDS = 1000;
  const LARGEST_FIELD = 4294967295;

  const wrong = (name, what, Class = TypeError) => {
    throw new Class('safety.fs.' + name + ': ' + what);
  };
  const word = (name, key, value) => {
    if (typeof value !== 'string') wrong(name, key + ' must be a string.');
    return toWellFormed(value);
  };
  const options = (name, given, names) => {
    if (given === undefined || given === null) return undefined;
    if (!isObject(given)) wrong(name, 'the options must be an object.');
    known(given, 'safety.fs.' + name, names);
    return given;
  };
  const bare = (args, count, name) => optionless(args, count, 'safety.fs.' + name);
  const option = (given, key) => (given === undefined ? undefined : given[key]);
  const flag = (given, key) => !!option(given, key);
  const optional = (name, given, key) => {
    const value = option(given, key);
    return value === undefined ? undefined : word(name, key, value);
  };
  const whole = (name, key, value, least) => {
    if (typeof value !== 'number') wrong(name, key + ' must be a number.');
    if (!isSafeInteger(value) || value < least) {
      wrong(name, key + ' must be a whole number that is at least ' + least + '.', RangeError);
    }
    return value;
  };
  const count = (name, given, key, least) => {
    const value = option(given, key);
    return value === undefined ? undefined : whole(name, key, value, least);
  };
  const ask = (request) => {
    const answer = effects.file(request);
    if (answer.refused === true) throw effects.refusal(answer, Error);
    return answer;
  };
  const value = (request) => jsonParse(ask(request).json);
  const on = (op, name, path) => ({ __proto__: null, op, path: word(name, 'path', path) });
  const content = (text) => new Uint8Array(encode(text));

  const visible = {
    __proto__: null,
    readText(path) {
      bare(arguments, 1, 'readText');
      return ask(on('readText', 'readText', path)).text;
    },
    readBytes(path, given = undefined) {
      const request = on('readBytes', 'readBytes', path);
      const chosen = options('readBytes', given, '\noffset\nlength\n');
      request.offset = count('readBytes', chosen, 'offset', 0);
      request.length = count('readBytes', chosen, 'length', 0);
      return new Uint8Array(ask(request).bytes);
    },
    readJson(path) {
      bare(arguments, 1, 'readJson');
      const request = on('readText', 'readJson', path);
      const { text } = ask(request);
      try {
        return jsonParse(text);
      } catch (error) {
        const told = isObject(error) ? getOwnPropertyDescriptor(error, 'message') : undefined;
        if (told === undefined) throw error;
        throw new SyntaxError(request.path + ' is not JSON: ' + told.value);
      }
    },
    list(path, given = undefined) {
      const request = on('list', 'list', path);
      request.recursive = flag(options('list', given, '\nrecursive\n'), 'recursive');
      return value(request);
    },
    exists(path) {
      bare(arguments, 1, 'exists');
      return value(on('exists', 'exists', path));
    },
    stat(path) {
      bare(arguments, 1, 'stat');
      return value(on('stat', 'stat', path));
    },
    lineCount(path) {
      bare(arguments, 1, 'lineCount');
      return value(on('lineCount', 'lineCount', path));
    },
    slice(path, given = undefined) {
      const request = on('slice', 'slice', path);
      const chosen = options('slice', given, '\nfrom\nto\n');
      request.from = count('slice', chosen, 'from', 1);
      request.to = count('slice', chosen, 'to', 0);
      return value(request);
    },
    grep(path, pattern, given = undefined) {
      const request = on('grep', 'grep', path);
      request.pattern = word('grep', 'pattern', pattern);
      const chosen = options('grep', given, '\nignoreCase\ninvert\nlimit\n');
      request.ignoreCase = flag(chosen, 'ignoreCase');
      request.invert = flag(chosen, 'invert');
      request.limit = count('grep', chosen, 'limit', 0);
      return value(request);
    },
    find(path, glob, given = undefined) {
      const request = on('find', 'find', path);
      request.glob = word('find', 'glob', glob);
      const kind = optional('find', options('find', given, '\nkind\n'), 'kind');
      if (kind !== undefined && kind !== 'file' && kind !== 'dir' && kind !== 'link') {
        wrong('find', "kind must be 'file', 'dir' or 'link'.");
      }
      request.kind = kind;
      return value(request);
    },
    search(path, pattern, given = undefined) {
      const request = on('search', 'search', path);
      request.pattern = word('search', 'pattern', pattern);
      const chosen = options('search', given, '\nglob\nignoreCase\ninvert\nlimit\n');
      request.glob = optional('search', chosen, 'glob');
      request.ignoreCase = flag(chosen, 'ignoreCase');
      request.invert = flag(chosen, 'invert');
      request.limit = count('search', chosen, 'limit', 0);
      return value(request);
    },
    // Without a delimiter, fields are separated by tabs.
    cut(path, given) {
      const request = on('cut', 'cut', path);
      const chosen = options('cut', given, '\ndelimiter\nfields\n');
      const delimiter = optional('cut', chosen, 'delimiter');
      request.delimiter = delimiter === undefined ? '\t' : delimiter;
      const fields = option(chosen, 'fields');
      if (!isArray(fields)) wrong('cut', 'fields must be an array of numbers, counted from 1.');
      const length = fields.length;
      if (!(length >= 1 && length <= MOST_FIELDS)) {
        wrong('cut', 'fields must name from 1 to ' + MOST_FIELDS + ' fields.', RangeError);
      }
      request.fields = list();
      for (let i = 0; i < length; i++) {
        const field = whole('cut', 'each of the fields', fields[i], 1);
        if (field > LARGEST_FIELD) wrong('cut', 'there is no such field.', RangeError);
        request.fields[i] = field;
      }
      return value(request);
    },
    // Without a delimiter, fields are separated by tabs.
    sort(path, given = undefined) {
      const request = on('sort', 'sort', path);
      const chosen = options('sort', given, '\nnumeric\nreverse\nunique\nfield\ndelimiter\n');
      request.numeric = flag(chosen, 'numeric');
      request.reverse = flag(chosen, 'reverse');
      request.unique = flag(chosen, 'unique');
      request.field = count('sort', chosen, 'field', 1);
      const delimiter = optional('sort', chosen, 'delimiter');
      request.delimiter = delimiter === undefined ? '\t' : delimiter;
      return value(request);
    },
    workspace() {
      bare(arguments, 0, 'workspace');
      return value({ __proto__: null, op: 'workspace' });
    },
    roots() {
      bare(arguments, 0, 'roots');
      return value({ __proto__: null, op: 'roots' });
    },
    writeText(path, text) {
      bare(arguments, 2, 'writeText');
      const request = on('write', 'writeText', path);
      request.content = content(word('writeText', 'text', text));
      return value(request);
    },
    writeBytes(path, bytes) {
      bare(arguments, 2, 'writeBytes');
      const request = on('write', 'writeBytes', path);
      request.content = new Uint8Array(copied(bytes, 'safety.fs.writeBytes: bytes'));
      return value(request);
    },
    appendText(path, text) {
      bare(arguments, 2, 'appendText');
      const request = on('append', 'appendText', path);
      request.content = content(word('appendText', 'text', text));
      return value(request);
    },
    editText(path, old, replacement, given = undefined) {
      const request = on('edit', 'editText', path);
      request.old = word('editText', 'the text to replace', old);
      request.new = word('editText', 'the new text', replacement);
      request.all = flag(options('editText', given, '\nall\n'), 'all');
      return value(request);
    },
    copy(from, to) {
      bare(arguments, 2, 'copy');
      return value({ __proto__: null, op: 'copy', from: word('copy', 'from', from), to: word('copy', 'to', to) });
    },
    mkdir(path) {
      bare(arguments, 1, 'mkdir');
      ask(on('mkdir', 'mkdir', path));
    },
    move(from, to) {
      bare(arguments, 2, 'move');
      ask({ __proto__: null, op: 'move', from: word('move', 'from', from), to: word('move', 'to', to) });
    },
    delete(path) {
      bare(arguments, 1, 'delete');
      ask(on('delete', 'delete', path));
    },
    deleteDir(path, given = undefined) {
      const request = on('deleteDir', 'deleteDir', path);
      request.recursive = flag(options('deleteDir', given, '\nrecursive\n'), 'recursive');
      return value(request);
    },
  };
  const named = { __proto__: null };
  const names = P.ownKeys(visible);
  for (let i = 0; i < names.length; i++) named['safety.fs.' + names[i]] = visible[names[i]];
  return { __proto__: null, visible: named };
});
