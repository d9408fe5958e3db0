// Timers: a heap ordered by time, then by id. The loop outside asks when the next one is due and has it fired.
//
// For other scripts: `after(ms, callback, wanted)` starts a timer that no guest can see or clear. Such a timer does not
// keep a call going by itself: only while `wanted()` says that somebody listens.
(function (native, P) {
  'use strict';
  const { list, apply, Map, mapGet, mapSet, mapDelete, mapSize, mapForEach, min, TypeError, Number } = P;
  const LONGEST = 2147483647;
  const now = native.now;
  const queue = list();
  const live = new Map();
  // Those of `live` that are our own.
  const quiet = new Map();
  let last = 0;

  const before = (a, b) => a.due < b.due || (a.due === b.due && a.order < b.order);
  const enqueue = (entry) => {
    let at = queue.length;
    queue[at] = entry;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(entry, queue[parent])) break;
      queue[at] = queue[parent];
      at = parent;
    }
    queue[at] = entry;
  };
  const dequeue = () => {
    const end = queue.length - 1;
    const entry = queue[end];
    queue.length = end;
    if (end === 0) return;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= end) break;
      if (child + 1 < end && before(queue[child + 1], queue[child])) child++;
      if (!before(queue[child], entry)) break;
      queue[at] = queue[child];
      at = child;
    }
    queue[at] = entry;
  };
  const start = (callback, delay, args, repeat) => {
    if (typeof callback !== 'function') throw new TypeError('The "callback" argument must be of type function.');
    let wait = Number(delay);
    if (!(wait >= 1 && wait <= LONGEST)) wait = 1;
    const id = ++last;
    const entry = { __proto__: null, id, order: id, due: now() + wait, wait, callback, args, repeat };
    mapSet(live, id, entry);
    enqueue(entry);
    return id;
  };
  const stop = (id) => {
    mapDelete(live, typeof id === 'string' ? Number(id) : id);
  };
  const nothing = list();
  const after = (ms, callback, wanted) => {
    const entry = {
      __proto__: null, order: ++last, due: now() + min(ms, LONGEST), callback, args: nothing, repeat: false, wanted,
    };
    // Known by itself and not by a number: no guest can name it.
    entry.id = entry;
    mapSet(live, entry, entry);
    mapSet(quiet, entry, entry);
    enqueue(entry);
  };
  const isWanted = () => {
    if (mapSize(live) > mapSize(quiet)) return true;
    let found = false;
    mapForEach(quiet, (entry) => {
      if (!found) found = entry.wanted();
    });
    return found;
  };
  const rest = (args) => {
    const kept = list();
    for (let i = 2; i < args.length; i++) kept[i - 2] = args[i];
    return kept;
  };
  const visible = {
    setTimeout(callback, delay) { return start(callback, delay, rest(arguments), false); },
    setInterval(callback, delay) { return start(callback, delay, rest(arguments), true); },
    clearTimeout(id) { stop(id); },
    clearInterval(id) { stop(id); },
  };
  // When the next timer is due, in milliseconds of the call's clock; undefined when there is none. `waits`: whether the
  // call goes on anyway, because an answer is still to come.
  const next = (waits) => {
    while (queue.length > 0 && mapGet(live, queue[0].id) !== queue[0]) dequeue();
    return queue.length > 0 && (waits || isWanted()) ? queue[0].due : undefined;
  };
  const fire = () => {
    const entry = queue[0];
    dequeue();
    if (entry.repeat) {
      entry.due = now() + entry.wait;
      entry.order = ++last;
      enqueue(entry);
    } else {
      mapDelete(live, entry.id);
      mapDelete(quiet, entry.id);
    }
    apply(entry.callback, undefined, entry.args);
  };
  return { __proto__: null, visible, next, fire, after };
});
