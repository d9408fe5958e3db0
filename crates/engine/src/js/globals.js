// The names on the global object: everything that is not kept goes, what can be granted waits on a shelf. A dotted name
// lies on objects of ours that are there as long as something is on them.
(function (native, P, bindings, need, ahead) {
  'use strict';
  const { ownKeys, defineProperty, errors, indexOf, slice, toStringTag } = P;
  const shelf = { __proto__: null };
  // The part of the web's surface that a name comes from.
  const homes = {
    __proto__: null,
    URL: 'url',
    URLSearchParams: 'params',
    TextEncoder: 'encoding',
    TextDecoder: 'encoding',
    atob: 'encoding',
    btoa: 'encoding',
    'crypto.randomUUID': 'crypto',
    'crypto.getRandomValues': 'crypto',
    'crypto.subtle.digest': 'crypto',
    'crypto.subtle.importKey': 'crypto',
    'crypto.subtle.sign': 'crypto',
    'crypto.subtle.verify': 'crypto',
    fetch: 'fetch',
    Headers: 'headers',
    Request: 'request',
    Response: 'response',
    FormData: 'form',
    AbortController: 'abort',
    AbortSignal: 'abort',
    'sandbox.exec': 'exec',
    'safety.parser.html': 'parser',
    'safety.parser.xml': 'parser',
    'safety.parser.csv': 'parser',
    'safety.parser.yaml': 'parser',
  };
  const files = [
    'readText', 'readBytes', 'readJson', 'list', 'exists', 'stat', 'lineCount', 'slice', 'grep',
    'find', 'search', 'cut', 'sort', 'workspace', 'roots', 'writeText', 'writeBytes', 'appendText',
    'editText', 'copy', 'mkdir', 'move', 'delete', 'deleteDir',
  ];
  for (let i = 0; i < files.length; i++) homes['safety.fs.' + files[i]] = 'files';
  const tags = { __proto__: null, crypto: 'Crypto', 'crypto.subtle': 'SubtleCrypto' };
  const put = (object, key, value, enumerable) => {
    defineProperty(object, key, { __proto__: null, value, writable: true, enumerable, configurable: true });
  };
  // Called once, before any guest: `kept` and `offered` are lines of names.
  const scrub = (kept, offered, removed) => {
    const stays = (lines, name) => indexOf(lines, '\n' + name + '\n') !== -1;
    const names = ownKeys(globalThis);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (typeof name === 'symbol' || stays(kept, name)) continue;
      if (stays(offered, name)) shelf[name] = globalThis[name];
      if (!delete globalThis[name]) throw new errors.Error('the global ' + name + ' cannot be removed');
    }
    delete Math.random;
    // The engine would call what is set here with the functions on the stack, ours among them.
    delete Error.prepareStackTrace;
    if (removed) delete Array.fromAsync;
    const ours = ownKeys(bindings);
    for (let i = 0; i < ours.length; i++) {
      const name = ours[i];
      if (stays(kept, name)) put(globalThis, name, bindings[name], false);
      else if (stays(offered, name)) shelf[name] = bindings[name];
    }
  };
  // Objects that names lie on, by their own name: `above` is the holder of the object itself, `count` how many names
  // and objects are on it. What is not ours has no holder and stays.
  const node = (object, name, above) => ({ __proto__: null, object, name, above, count: 0 });
  const root = node(globalThis, '', undefined);
  const nodes = { __proto__: null, Math: node(Math, 'Math', undefined) };
  const lastDot = (name) => {
    let at = -1;
    for (let next = indexOf(name, '.'); next !== -1; next = indexOf(name, '.', at + 1)) at = next;
    return at;
  };
  const holderOf = (name) => {
    const dot = lastDot(name);
    return dot === -1 ? root : nodeOf(slice(name, 0, dot));
  };
  const nodeOf = (name) => {
    if (nodes[name] !== undefined) return nodes[name];
    const above = holderOf(name);
    const object = {};
    if (tags[name] !== undefined) {
      defineProperty(object, toStringTag, {
        __proto__: null, value: tags[name], writable: false, enumerable: false, configurable: true,
      });
    }
    put(above.object, keyOf(name), object, above !== root);
    above.count++;
    nodes[name] = node(object, name, above);
    return nodes[name];
  };
  const keyOf = (name) => slice(name, lastDot(name) + 1);
  const isOurs = (holder) => holder.above !== undefined;
  // A name whose part is not loaded yet: the first touch loads it and leaves an ordinary property.
  const later = (object, key, name, enumerable) => {
    const settle = (value) => put(object, key, value, enumerable);
    defineProperty(object, key, {
      __proto__: null,
      get: () => {
        const value = need(homes[name]).visible[name];
        settle(value);
        return value;
      },
      set: settle,
      enumerable,
      configurable: true,
    });
  };
  const install = (name) => {
    if (shelf[name] === undefined && homes[name] === undefined) return;
    const holder = holderOf(name);
    const key = keyOf(name);
    holder.count++;
    if (shelf[name] !== undefined) put(holder.object, key, shelf[name], isOurs(holder));
    else if (ahead) put(holder.object, key, need(homes[name]).visible[name], isOurs(holder));
    else later(holder.object, key, name, isOurs(holder));
  };
  const leave = (holder, key) => {
    delete holder.object[key];
    holder.count--;
    if (holder.count > 0 || !isOurs(holder)) return;
    delete nodes[holder.name];
    leave(holder.above, keyOf(holder.name));
  };
  const remove = (name) => {
    if (shelf[name] !== undefined || homes[name] !== undefined) leave(holderOf(name), keyOf(name));
  };
  return { __proto__: null, scrub, install, remove };
});
