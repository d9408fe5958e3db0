// Values as text, in the manner of node's `util.inspect`. No getter, trap or `toString` of the guest runs here.
(function (native, P) {
  'use strict';
  const {
    list, join, classOf, proxyTarget, promiseState, promiseResult, authorFrames, ownKeys, getOwnPropertyDescriptor,
    getPrototypeOf, isArray, charCodeAt, slice, indexOf, startsWith, repeat, padStart, padEnd, functionToString, same,
    symbolToString, symbolValue, stringValue, numberValue, booleanValue, bigintValue, bigintToString, numberToString,
    toStringTag, typedArrays, mapForEach, mapSize, setForEach, setSize, dateTime, dateISO, regexpSource, regexpFlags,
    errorStack, bufferLength, bufferDetached, viewLength, viewOffset, viewBuffer, arrayLength, Uint8Array, Map, mapGet,
    mapSet, propertyIsEnumerable, max, min, floor, sqrt, round, views,
  } = P;
  const ITEMS = 100;
  const LETTERS = 10000;
  const BREAK = 80;
  const COMPACT = 3;
  const HEX = '0123456789abcdef';

  const escapes = { __proto__: null, 8: '\\b', 9: '\\t', 10: '\\n', 12: '\\f', 13: '\\r', 92: '\\\\' };
  const needsEscape = (c) => c < 32 || c === 39 || c === 92 || (c >= 127 && c <= 159) || (c >= 0xd800 && c <= 0xdfff);
  const quote = (text) => {
    let mark = 39;
    if (indexOf(text, "'") !== -1) {
      if (indexOf(text, '"') === -1) mark = 34;
      else if (indexOf(text, '`') === -1 && indexOf(text, '${') === -1) mark = 96;
    }
    let out = mark === 39 ? "'" : mark === 34 ? '"' : '`';
    const around = out;
    let from = 0;
    for (let i = 0; i < text.length; i++) {
      const c = charCodeAt(text, i);
      if (!needsEscape(c)) continue;
      let piece;
      if (c === 39) {
        if (mark !== 39) continue;
        piece = "\\'";
      } else if (c >= 0xd800 && c <= 0xdfff) {
        if (c <= 0xdbff && i + 1 < text.length) {
          const d = charCodeAt(text, i + 1);
          if (d >= 0xdc00 && d <= 0xdfff) {
            i++;
            continue;
          }
        }
        piece = '\\u' + numberToString(c, 16);
      } else if (escapes[c] !== undefined) {
        piece = escapes[c];
      } else {
        piece = '\\x' + upper(padStart(numberToString(c, 16), 2, '0'));
      }
      out += slice(text, from, i) + piece;
      from = i + 1;
    }
    return out + slice(text, from) + around;
  };
  const upper = (hex) => {
    let out = '';
    for (let i = 0; i < hex.length; i++) {
      const c = charCodeAt(hex, i);
      out += c >= 97 ? 'ABCDEF'[c - 97] : hex[i];
    }
    return out;
  };
  const isIdentifier = (key) => {
    if (key.length === 0) return false;
    for (let i = 0; i < key.length; i++) {
      const c = charCodeAt(key, i);
      const letter = (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95;
      if (!letter && !(i > 0 && c >= 48 && c <= 57)) return false;
    }
    return true;
  };
  // An own property name that is an index of an array.
  const isIndex = (key) => {
    if (typeof key !== 'string' || key.length === 0 || key.length > 10) return false;
    if (key.length > 1 && charCodeAt(key, 0) === 48) return false;
    for (let i = 0; i < key.length; i++) {
      const c = charCodeAt(key, i);
      if (c < 48 || c > 57) return false;
    }
    return true;
  };
  // A property on the chain, if it is plain data and no proxy is in the way.
  const plain = (object, key) => {
    for (let steps = 0; steps < 100 && object !== null; steps++) {
      if (classOf(object) === 'Proxy') return undefined;
      const found = getOwnPropertyDescriptor(object, key);
      if (found !== undefined) return found.value;
      object = getPrototypeOf(object);
    }
    return undefined;
  };
  const ownText = (object, key) => {
    if (classOf(object) === 'Proxy') return '';
    const found = getOwnPropertyDescriptor(object, key);
    return found !== undefined && typeof found.value === 'string' ? found.value : '';
  };
  // The name of the constructor; null when the chain has none.
  const makerOf = (value) => {
    let object = value;
    for (let steps = 0; steps < 100 && object !== null; steps++) {
      if (classOf(object) === 'Proxy') return null;
      const found = getOwnPropertyDescriptor(object, 'constructor');
      if (found !== undefined && typeof found.value === 'function') {
        const name = ownText(found.value, 'name');
        if (name !== '' && descends(value, found.value)) return name;
      }
      object = getPrototypeOf(object);
    }
    return null;
  };
  const descends = (value, maker) => {
    if (classOf(maker) === 'Proxy') return false;
    const found = getOwnPropertyDescriptor(maker, 'prototype');
    const prototype = found === undefined ? undefined : found.value;
    let object = getPrototypeOf(value);
    for (let steps = 0; steps < 100 && object !== null; steps++) {
      if (object === prototype) return true;
      if (classOf(object) === 'Proxy') return false;
      object = getPrototypeOf(object);
    }
    return false;
  };

  const primitive = (state, value, inside) => {
    switch (typeof value) {
      case 'string': return inside ? longString(state, value) : value;
      case 'number': return same(value, -0) ? '-0' : '' + value;
      case 'bigint': return bigintToString(value) + 'n';
      case 'symbol': return symbolToString(value);
      default: return '' + value;
    }
  };
  const longString = (state, value) => {
    let trailer = '';
    if (value.length > LETTERS) {
      const more = value.length - LETTERS;
      value = slice(value, 0, LETTERS);
      trailer = '... ' + more + ' more character' + (more > 1 ? 's' : '');
    }
    if (value.length > 16 && value.length > BREAK - state.indent - 4 && indexOf(value, '\n') !== -1) {
      const lines = list();
      let from = 0;
      while (from < value.length) {
        const end = indexOf(value, '\n', from);
        const to = end === -1 ? value.length : end + 1;
        lines[lines.length] = quote(slice(value, from, to));
        from = to;
      }
      return join(lines, ' +\n' + repeat(' ', state.indent + 2)) + trailer;
    }
    return quote(value) + trailer;
  };

  const prefix = (maker, tag, fallback, size) => {
    if (maker === null) {
      if (tag !== '' && fallback !== tag) return '[' + fallback + size + ': null prototype] [' + tag + '] ';
      return '[' + fallback + size + ': null prototype] ';
    }
    if (tag !== '' && maker !== tag) return maker + size + ' [' + tag + '] ';
    return maker + size + ' ';
  };
  const format = (state, value, depth, inside) => {
    if (typeof value !== 'object' && typeof value !== 'function') return primitive(state, value, inside);
    if (value === null) return 'null';
    while (classOf(value) === 'Proxy') {
      value = proxyTarget(value);
      if (value === null) return '<Revoked Proxy>';
    }
    for (let i = 0; i < state.above.length; i++) {
      if (state.above[i] === value) {
        let index = mapGet(state.circular, value);
        if (index === undefined) {
          index = state.refs + 1;
          state.refs = index;
          mapSet(state.circular, value, index);
        }
        return '[Circular *' + index + ']';
      }
    }
    return formatObject(state, value, depth);
  };
  const tagOf = (value, maker) => {
    if (propertyIsEnumerable(value, toStringTag)) return '';
    const tag = plain(value, toStringTag);
    return typeof tag === 'string' && tag !== '' && tag !== maker ? tag : '';
  };
  // The keys of an array of this length would take more memory than the array; it is shown by its first items only.
  const HUGE = 10000;
  const visibleKeys = (state, value) => {
    const keys = list();
    if (isArray(value) && value.length > HUGE) return keys;
    if (typedArrays[classOf(value)] !== undefined && arrayLength(value) > HUGE) return keys;
    const all = ownKeys(value);
    for (let i = 0; i < all.length; i++) {
      const key = all[i];
      const found = getOwnPropertyDescriptor(value, key);
      if (found !== undefined && (found.enumerable || state.hidden)) keys[keys.length] = key;
    }
    return keys;
  };
  const without = (keys, drop) => {
    const kept = list();
    for (let i = 0; i < keys.length; i++) if (!drop(keys[i])) kept[kept.length] = keys[i];
    return kept;
  };
  const formatObject = (state, value, depth) => {
    const maker = makerOf(value);
    const tag = tagOf(value, maker);
    const kind = classOf(value);
    let keys = visibleKeys(state, value);
    let open = '{';
    let close = '}';
    let base = '';
    let body = null;
    let isList = false;
    if (kind === 'Array') {
      const length = getOwnPropertyDescriptor(value, 'length').value;
      keys = without(keys, (key) => isIndex(key));
      open = (maker !== 'Array' || tag !== '' ? prefix(maker, tag, 'Array', '(' + length + ')') : '') + '[';
      close = ']';
      isList = true;
      if (length === 0 && keys.length === 0) return open + ']';
      body = (out) => arrayItems(state, value, length, depth, out);
    } else if (kind === 'Set') {
      open = prefix(maker, tag, 'Set', '(' + setSize(value) + ')') + '{';
      if (setSize(value) === 0 && keys.length === 0) return open + '}';
      body = (out) => setItems(state, value, depth, out);
    } else if (kind === 'Map') {
      open = prefix(maker, tag, 'Map', '(' + mapSize(value) + ')') + '{';
      if (mapSize(value) === 0 && keys.length === 0) return open + '}';
      body = (out) => mapItems(state, value, depth, out);
    } else if (typedArrays[kind] !== undefined) {
      keys = without(keys, (key) => isIndex(key));
      const length = arrayLength(value);
      open = prefix(maker, tag === kind ? '' : tag, kind, '(' + length + ')') + '[';
      close = ']';
      isList = true;
      if (length === 0 && keys.length === 0) return open + ']';
      body = (out) => bytesItems(value, length, out);
    } else if (kind === 'Arguments') {
      open = '[Arguments] {';
      if (keys.length === 0) return '[Arguments] {}';
    } else if (typeof value === 'function') {
      base = functionBase(value, maker, tag);
      if (keys.length === 0) return base;
    } else if (kind === 'RegExp') {
      base = '/' + regexpSource(value) + '/';
      for (let i = 0; i < regexpFlags.length; i++) if (regexpFlags[i][1](value)) base += regexpFlags[i][0];
      if (maker !== 'RegExp' || tag !== '') base = prefix(maker, tag, 'RegExp', '') + base;
      if (keys.length === 0) return base;
    } else if (kind === 'Date') {
      const time = dateTime(value);
      base = time === time ? dateISO(value) : 'Invalid Date';
      if (maker !== 'Date' || tag !== '') base = prefix(maker, tag, 'Date', '') + base;
      if (keys.length === 0) return base;
    } else if (kind === 'Error') {
      keys = errorKeys(value, keys);
      base = errorBase(state, value, maker, keys);
      if (keys.length === 0) return base;
    } else if (kind === 'Number' || kind === 'String' || kind === 'Boolean' || kind === 'BigInt' || kind === 'Symbol') {
      if (kind === 'String') keys = without(keys, (key) => isIndex(key));
      base = boxBase(state, value, kind, maker, tag);
      if (keys.length === 0) return base;
    } else if (kind === 'ArrayBuffer') {
      open = prefix(maker, tag, 'ArrayBuffer', '') + '{';
      body = (out) => bufferItems(value, out);
    } else if (kind === 'DataView') {
      open = prefix(maker, tag, 'DataView', '') + '{';
      body = (out) => {
        out[out.length] = 'byteLength: ' + viewLength(value);
        out[out.length] = 'byteOffset: ' + viewOffset(value);
        state.indent += 2;
        out[out.length] = 'buffer: ' + format(state, viewBuffer(value), depth + 1, true);
        state.indent -= 2;
      };
    } else if (kind === 'Promise') {
      open = prefix(maker, tag, 'Promise', '') + '{';
      body = (out) => promiseItems(state, value, depth, out);
    } else if (kind === 'WeakSet' || kind === 'WeakMap') {
      open = prefix(maker, tag, kind, '') + '{';
      body = (out) => {
        out[out.length] = '<items unknown>';
      };
    } else {
      const seen = viewOf(value);
      open = maker === 'Object' && tag === '' ? '{' : prefix(maker, tag, 'Object', '') + '{';
      if (keys.length === 0 && (seen === undefined || seen.pairs.length === 0)) return open + '}';
      if (seen !== undefined) body = (out) => viewItems(state, seen, depth, out);
    }
    if (depth > state.depth) {
      const name = slice(prefix(maker, tag, kind === 'Array' ? 'Array' : 'Object', ''), 0, -1);
      return maker === null ? '[' + slice(name, 1) : '[' + name + ']';
    }
    const output = list();
    state.above[state.above.length] = value;
    state.current = depth;
    if (body !== null) body(output);
    for (let i = 0; i < keys.length; i++) {
      output[output.length] = property(state, value, keys[i], depth);
    }
    state.above.length--;
    const index = mapGet(state.circular, value);
    if (index !== undefined) {
      const mark = '<ref *' + index + '>';
      if (base === '') open = mark + ' ' + open;
      else base = mark + ' ' + base;
    }
    return lay(state, output, base, open, close, isList, depth, value);
  };
  // One line if it is short and shallow enough, else one line each.
  const lay = (state, output, base, open, close, isList, depth, value) => {
    const entries = output.length;
    if (isList && entries > 6) output = columns(state, output, value);
    if (state.current - depth < COMPACT && entries === output.length) {
      const start = output.length + state.indent + open.length + base.length + 10;
      if (fits(output, start, base)) {
        const joined = join(output, ', ');
        if (indexOf(joined, '\n') === -1) {
          return (base !== '' ? base + ' ' : '') + open + ' ' + joined + ' ' + close;
        }
      }
    }
    const line = '\n' + repeat(' ', state.indent);
    return (base !== '' ? base + ' ' : '') + open + line + '  ' + join(output, ',' + line + '  ') + line + close;
  };
  const fits = (output, start, base) => {
    let total = output.length + start;
    if (total + output.length > BREAK) return false;
    for (let i = 0; i < output.length; i++) {
      total += output[i].length;
      if (total > BREAK) return false;
    }
    return base === '' || indexOf(base, '\n') === -1;
  };
  // Many short items of a list stand in columns that are about as wide as the whole is high.
  const columns = (state, output, value) => {
    let total = 0;
    let longest = 0;
    let count = output.length;
    const extra = count > 0 && startsWith(output[count - 1], '... ') ? 1 : 0;
    count -= extra;
    const lengths = list();
    for (let i = 0; i < count; i++) {
      const length = output[i].length;
      if (indexOf(output[i], '\n') !== -1) return output;
      lengths[i] = length;
      total += length + 2;
      if (longest < length) longest = length;
    }
    const widest = longest + 2;
    if (!(widest * 3 + state.indent < BREAK && (total / widest > 5 || longest <= 6))) return output;
    const bias = sqrt(widest - total / output.length);
    const biased = max(widest - 3 - bias, 1);
    const across = min(
      round(sqrt(2.5 * biased * count) / biased),
      floor((BREAK - state.indent) / widest),
      COMPACT * 4,
      15,
    );
    if (across <= 1) return output;
    const widths = list();
    for (let column = 0; column < across; column++) {
      let most = 0;
      for (let i = column; i < count; i += across) if (lengths[i] > most) most = lengths[i];
      widths[column] = most + 2;
    }
    const right = isNumeric(value);
    const rows = list();
    for (let i = 0; i < count; i += across) {
      const end = min(i + across, count);
      let row = '';
      for (let j = i; j < end - 1; j++) {
        const room = widths[j - i] + output[j].length - lengths[j];
        row += right ? padStart(output[j] + ', ', room, ' ') : padEnd(output[j] + ', ', room, ' ');
      }
      const last = end - 1;
      row += right
        ? padStart(output[last], widths[last - i] + output[last].length - lengths[last] - 2, ' ')
        : output[last];
      rows[rows.length] = row;
    }
    if (extra === 1) rows[rows.length] = output[count];
    return rows;
  };
  const isNumeric = (value) => {
    const kind = classOf(value);
    if (typedArrays[kind] !== undefined) return true;
    if (kind !== 'Array') return false;
    const length = getOwnPropertyDescriptor(value, 'length').value;
    for (let i = 0; i < length && i < ITEMS; i++) {
      const found = getOwnPropertyDescriptor(value, '' + i);
      if (found === undefined || (typeof found.value !== 'number' && typeof found.value !== 'bigint')) return false;
    }
    return true;
  };

  const property = (state, object, key, depth) => {
    const found = getOwnPropertyDescriptor(object, key);
    return keyText(key, found) + ': ' + slot(state, found, depth);
  };
  const keyText = (key, found) => {
    let name;
    if (typeof key === 'symbol') name = '[' + symbolToString(key) + ']';
    else if (key === '__proto__') name = "['__proto__']";
    else if (found !== undefined && !found.enumerable) return '[' + key + ']';
    else if (isIdentifier(key)) name = key;
    else name = quote(key);
    return name;
  };
  const slot = (state, found, depth) => {
    if (found === undefined) return 'undefined';
    if (found.get !== undefined) return found.set !== undefined ? '[Getter/Setter]' : '[Getter]';
    if (found.set !== undefined) return '[Setter]';
    state.indent += 2;
    const text = format(state, found.value, depth + 1, true);
    state.indent -= 2;
    return text;
  };
  const arrayItems = (state, value, length, depth, out) => {
    let shown = 0;
    let at = 0;
    while (at < length && shown < ITEMS) {
      const found = getOwnPropertyDescriptor(value, '' + at);
      if (found === undefined) {
        const end = nextIndex(value, at, length);
        out[out.length] = '<' + (end - at) + ' empty item' + (end - at > 1 ? 's' : '') + '>';
        at = end;
      } else {
        out[out.length] = slot(state, found, depth);
        at++;
      }
      shown++;
    }
    more(length - at, 'item', out);
  };
  // Where the hole that begins at `at` ends, without walking it step by step.
  const nextIndex = (value, at, length) => {
    const keys = ownKeys(value);
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = floor((low + high) / 2);
      if (isIndex(keys[middle]) && +keys[middle] < at) low = middle + 1;
      else high = middle;
    }
    return low < keys.length && isIndex(keys[low]) ? min(+keys[low], length) : length;
  };
  const more = (count, what, out) => {
    if (count > 0) out[out.length] = '... ' + count + ' more ' + what + (count > 1 ? 's' : '');
  };
  const setItems = (state, value, depth, out) => {
    let seen = 0;
    const items = list();
    setForEach(value, (item) => {
      if (seen < ITEMS) items[seen] = item;
      seen++;
    });
    state.indent += 2;
    for (let i = 0; i < items.length; i++) out[out.length] = format(state, items[i], depth + 1, true);
    state.indent -= 2;
    more(seen - items.length, 'item', out);
  };
  const mapItems = (state, value, depth, out) => {
    let seen = 0;
    const keys = list();
    const items = list();
    mapForEach(value, (item, key) => {
      if (seen < ITEMS) {
        keys[seen] = key;
        items[seen] = item;
      }
      seen++;
    });
    state.indent += 2;
    for (let i = 0; i < items.length; i++) {
      const key = format(state, keys[i], depth + 1, true);
      out[out.length] = key + ' => ' + format(state, items[i], depth + 1, true);
    }
    state.indent -= 2;
    more(seen - items.length, 'item', out);
  };
  const bytesItems = (value, length, out) => {
    const shown = min(length, ITEMS);
    for (let i = 0; i < shown; i++) {
      const item = value[i];
      out[i] = typeof item === 'bigint' ? bigintToString(item) + 'n' : same(item, -0) ? '-0' : '' + item;
    }
    more(length - shown, 'item', out);
  };
  const bufferItems = (value, out) => {
    if (bufferDetached !== undefined && bufferDetached(value)) {
      out[out.length] = '(detached)';
      out[out.length] = 'byteLength: 0';
      return;
    }
    const length = bufferLength(value);
    const bytes = new Uint8Array(value);
    const shown = min(length, ITEMS);
    let text = '';
    for (let i = 0; i < shown; i++) text += (i > 0 ? ' ' : '') + HEX[bytes[i] >> 4] + HEX[bytes[i] & 15];
    if (length > shown) text += ' ... ' + (length - shown) + ' more byte' + (length - shown > 1 ? 's' : '');
    out[out.length] = '[Uint8Contents]: <' + text + '>';
    out[out.length] = 'byteLength: ' + length;
  };
  // What an instance of a class of ours has to show; its getters are not asked.
  const viewOf = (value) => {
    for (let i = 0; i < views.length; i++) {
      const seen = views[i](value);
      if (seen !== undefined) return seen;
    }
    return undefined;
  };
  const viewItems = (state, seen, depth, out) => {
    const { pairs, between, quoted } = seen;
    const shown = min(pairs.length, 2 * ITEMS);
    state.indent += 2;
    for (let i = 0; i < shown; i += 2) {
      const name = quoted ? longString(state, pairs[i]) : pairs[i];
      out[out.length] = name + between + format(state, pairs[i + 1], depth + 1, true);
    }
    state.indent -= 2;
    more((pairs.length - shown) / 2, 'item', out);
  };
  const promiseItems = (state, value, depth, out) => {
    const standing = promiseState(value);
    if (standing === 0) {
      out[out.length] = '<pending>';
      return;
    }
    state.indent += 2;
    const text = format(state, promiseResult(value), depth + 1, true);
    state.indent -= 2;
    out[out.length] = standing === 2 ? '<rejected> ' + text : text;
  };
  const functionBase = (value, maker, tag) => {
    const source = functionToString(value);
    const name = ownText(value, 'name');
    if (startsWith(source, 'class') && source[source.length - 1] === '}') {
      let text = '[class ' + (name === '' ? '(anonymous)' : name);
      if (maker !== 'Function' && maker !== null) text += ' [' + maker + ']';
      if (maker !== null) {
        const parent = getPrototypeOf(value);
        const above = parent !== null && typeof parent === 'function' ? ownText(parent, 'name') : '';
        if (above !== '') text += ' extends ' + above;
      } else {
        text += ' extends [null prototype]';
      }
      return text + ']';
    }
    const kinds = {
      __proto__: null,
      AsyncFunction: 'AsyncFunction',
      GeneratorFunction: 'GeneratorFunction',
      AsyncGeneratorFunction: 'AsyncGeneratorFunction',
    };
    const kind = kinds[classOf(value)] || 'Function';
    let text = '[' + kind;
    if (maker === null) text += ' (null prototype)';
    text += name === '' ? ' (anonymous)' : ': ' + name;
    text += ']';
    if (maker !== kind && maker !== null && maker !== 'Function') text += ' ' + maker;
    if (tag !== '' && tag !== kind && maker !== tag) text += ' [' + tag + ']';
    return text;
  };
  const boxBase = (state, value, kind, maker, tag) => {
    let inner;
    if (kind === 'Number') inner = numberValue(value);
    else if (kind === 'String') inner = stringValue(value);
    else if (kind === 'Boolean') inner = booleanValue(value);
    else if (kind === 'BigInt') inner = bigintValue(value);
    else inner = symbolValue(value);
    let text = '[' + kind;
    if (maker === null) text += ' (null prototype)';
    else if (maker !== kind) text += ' (' + maker + ')';
    text += ': ' + (typeof inner === 'string' ? quote(inner) : primitive(state, inner, true)) + ']';
    if (tag !== '' && tag !== kind) text += ' [' + tag + ']';
    return text;
  };
  const errorKeys = (value, keys) => {
    const kept = without(keys, (key) => {
      if (key !== 'name' && key !== 'message' && key !== 'stack') return false;
      const found = getOwnPropertyDescriptor(value, key);
      return found !== undefined && typeof found.value === 'string';
    });
    const cause = getOwnPropertyDescriptor(value, 'cause');
    if (cause !== undefined && !cause.enumerable) kept[kept.length] = 'cause';
    const errors = getOwnPropertyDescriptor(value, 'errors');
    if (errors !== undefined && !errors.enumerable && isArray(errors.value)) kept[kept.length] = 'errors';
    return kept;
  };
  const errorBase = (state, value, maker, keys) => {
    const name = plain(value, 'name');
    const message = plain(value, 'message');
    let head = typeof name === 'string' ? name : 'Error';
    if (maker !== null && maker !== head && (head === 'Error' || !startsWith(maker, head))) {
      head = head === 'Error' || indexOf(maker, head) !== -1 ? maker : maker + ' [' + head + ']';
    }
    const said = typeof message === 'string' ? message : '';
    if (said !== '') head = head === '' ? said : head + ': ' + said;
    const own = getOwnPropertyDescriptor(value, 'stack');
    let frames = '';
    if (own !== undefined && typeof own.value === 'string') return own.value;
    const stack = errorStack(value);
    if (typeof stack === 'string') frames = authorFrames(stack);
    if (frames === '') return '[' + head + ']';
    const text = head + '\n' + frames;
    return state.indent === 0 ? text : indented(text, state.indent);
  };
  const indented = (text, by) => {
    let out = '';
    let from = 0;
    for (;;) {
      const end = indexOf(text, '\n', from);
      if (end === -1) return out + slice(text, from);
      out += slice(text, from, end + 1) + repeat(' ', by);
      from = end + 1;
    }
  };

  const fresh = (depth, hidden) => ({
    __proto__: null, depth, hidden, indent: 0, current: 0, above: list(), circular: new Map(), refs: 0,
  });
  return (value, depth = 2, hidden = false) => format(fresh(depth, hidden), value, 0, true);
});
