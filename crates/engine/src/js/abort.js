// AbortController and AbortSignal, by the DOM standard, as far as there is something to abort. There are no other
// events: `addEventListener` takes every type and only `abort` ever happens, and there is no `dispatchEvent`.
//
// What a listener throws ends the call, as what a timer throws does: nobody else could ever learn of it.
//
// For other scripts: `stateOf(value)` gives the state of an AbortSignal and undefined for anything else, with `aborted`
// and `reason` on it; `onAbort(state, run)` has `run` called before any listener, once, and gives a function that takes
// it back; `following(states)` makes a signal that aborts with the first of these, and gives its state.
(function (native, P, need) {
  'use strict';
  const { list, apply, iterator, maxSafeInteger, floor, queueMicrotask, Number, TypeError } = P;
  const { isObject, letters, required, member, iterate, enumerable, tag, known } = need('idl');
  const { DOMException } = need('exception');
  const { after } = native.timers;
  const { now } = native;

  const without = (items, item) => {
    const kept = list();
    for (let i = 0; i < items.length; i++) if (items[i] !== item) kept[kept.length] = items[i];
    return kept;
  };
  const add = (items, item) => {
    items[items.length] = item;
  };
  const fresh = () => ({
    __proto__: null,
    aborted: false,
    reason: undefined,
    // What has to be done before listeners are told; of these, the ones that somebody waits for.
    tasks: list(),
    listeners: list(),
    onabort: null,
    // The signals that follow this one, and the ones that this one follows.
    followers: list(),
    sources: undefined,
    signal: undefined,
  });
  // Whether anything would happen if it aborted: only then its timer keeps a call going.
  const matters = (state) => {
    for (let i = 0; i < state.tasks.length; i++) if (state.tasks[i].counts) return true;
    for (let i = 0; i < state.listeners.length; i++) if (state.listeners[i].type === 'abort') return true;
    for (let i = 0; i < state.followers.length; i++) if (matters(state.followers[i])) return true;
    return false;
  };
  const onAbort = (state, run, counts = true) => {
    const task = { __proto__: null, run, counts };
    add(state.tasks, task);
    return () => {
      state.tasks = without(state.tasks, task);
    };
  };

  // The event that listeners get. It is no global; a guest cannot make one.
  let stopped;
  class Event {
    #signal;
    #time = now();
    #stopped = false;

    static {
      stopped = (event) => event.#stopped;
    }

    constructor(signal) {
      this.#signal = signal;
    }

    get type() { this.#signal; return 'abort'; }

    get target() { return this.#signal; }

    get currentTarget() { return this.#signal; }

    get timeStamp() { return this.#time; }

    get bubbles() { this.#signal; return false; }

    get cancelable() { this.#signal; return false; }

    get defaultPrevented() { this.#signal; return false; }

    get isTrusted() { this.#signal; return true; }

    preventDefault() { this.#signal; }

    stopPropagation() { this.#signal; }

    stopImmediatePropagation() { this.#stopped = true; }
  }
  delete Event.prototype.constructor;
  enumerable(Event.prototype, [
    'type', 'target', 'currentTarget', 'timeStamp', 'bubbles', 'cancelable', 'defaultPrevented', 'isTrusted',
    'preventDefault', 'stopPropagation', 'stopImmediatePropagation',
  ]);
  tag(Event.prototype, 'Event');

  const tell = (listener, signal, event) => {
    const args = list();
    args[0] = event;
    try {
      const { callback } = listener;
      if (typeof callback === 'function') {
        apply(callback, signal, args);
        return;
      }
      const handle = callback.handleEvent;
      if (typeof handle !== 'function') throw new TypeError('The listener has no function handleEvent.');
      apply(handle, callback, args);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  };
  const remove = (state, listener) => {
    listener.removed = true;
    state.listeners = without(state.listeners, listener);
  };
  const dispatch = (state) => {
    const { listeners, signal } = state;
    if (listeners.length === 0) return;
    const event = new Event(signal);
    const count = listeners.length;
    for (let i = 0; i < count && !stopped(event); i++) {
      const listener = listeners[i];
      if (listener.removed || listener.type !== 'abort') continue;
      if (listener.once) remove(state, listener);
      tell(listener, signal, event);
    }
  };
  const perform = (state) => {
    const { tasks } = state;
    state.tasks = list();
    for (let i = 0; i < tasks.length; i++) tasks[i].run();
    dispatch(state);
  };
  const abort = (state, reason) => {
    if (state.aborted) return;
    state.aborted = true;
    state.reason = reason;
    const { followers } = state;
    state.followers = list();
    const also = list();
    for (let i = 0; i < followers.length; i++) {
      const follower = followers[i];
      if (follower.aborted) continue;
      follower.aborted = true;
      follower.reason = reason;
      add(also, follower);
      for (let at = 0; at < follower.sources.length; at++) {
        const source = follower.sources[at];
        if (source !== state) source.followers = without(source.followers, follower);
      }
    }
    perform(state);
    for (let i = 0; i < also.length; i++) perform(also[i]);
  };
  const abortError = () => new DOMException('This operation was aborted', 'AbortError');

  let made = false;
  let stateOf;
  class AbortSignal {
    #state = fresh();

    static {
      stateOf = (value) => (isObject(value) && #state in value ? value.#state : undefined);
    }

    static abort(reason = undefined) {
      const state = create();
      state.aborted = true;
      state.reason = reason === undefined ? abortError() : reason;
      return state.signal;
    }

    static any(signals) {
      required(arguments, 1, 'AbortSignal.any');
      const method = isObject(signals) ? signals[iterator] : undefined;
      if (typeof method !== 'function') throw new TypeError('The signals must be an iterable of AbortSignals.');
      const states = list();
      iterate(signals, method, (signal) => {
        const state = stateOf(signal);
        if (state === undefined) throw new TypeError('Each of the signals must be an AbortSignal.');
        add(states, state);
      });
      return following(states).signal;
    }

    static timeout(milliseconds) {
      required(arguments, 1, 'AbortSignal.timeout');
      const ms = Number(milliseconds);
      if (!(ms > -1 && ms <= maxSafeInteger)) {
        throw new TypeError('The milliseconds must be a number that is not negative.');
      }
      const state = create();
      after(
        ms < 0 ? 0 : floor(ms),
        () => abort(state, new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
        () => matters(state),
      );
      return state.signal;
    }

    constructor() {
      if (!made) throw new TypeError('Illegal constructor');
      made = false;
      this.#state.signal = this;
    }

    get aborted() { return this.#state.aborted; }

    get reason() { return this.#state.reason; }

    throwIfAborted() {
      const state = this.#state;
      if (state.aborted) throw state.reason;
    }

    get onabort() { return this.#state.onabort; }
    set onabort(value) {
      const state = this.#state;
      const handler = isObject(value) ? value : null;
      state.onabort = handler;
      const { listeners } = state;
      for (let i = 0; i < listeners.length; i++) {
        if (!listeners[i].isHandler) continue;
        // It keeps the place that it had when it was first set.
        if (handler === null) remove(state, listeners[i]);
        return;
      }
      if (handler === null) return;
      const callback = function (event) {
        const handle = state.onabort;
        if (typeof handle !== 'function') return;
        const args = list();
        args[0] = event;
        apply(handle, this, args);
      };
      add(listeners, {
        __proto__: null, type: 'abort', callback, capture: false, once: false, isHandler: true, removed: false,
      });
    }

    addEventListener(type, callback, options = undefined) {
      const state = this.#state;
      required(arguments, 2, 'AbortSignal.addEventListener');
      const name = letters(type);
      if (callback !== null && callback !== undefined && !isObject(callback)) {
        throw new TypeError('The listener must be a function, or an object with a function handleEvent.');
      }
      const chosen = isObject(options) ? options : undefined;
      known(chosen, 'AbortSignal.addEventListener', '\ncapture\nonce\npassive\nsignal\n');
      const capture = chosen === undefined ? !!options : !!member(chosen, 'capture');
      const once = !!member(chosen, 'once');
      const until = member(chosen, 'signal');
      const end = until === undefined ? undefined : stateOf(until);
      if (until !== undefined && end === undefined) throw new TypeError('The signal must be an AbortSignal.');
      if (callback === null || callback === undefined || (end !== undefined && end.aborted)) return;
      const { listeners } = state;
      for (let i = 0; i < listeners.length; i++) {
        const other = listeners[i];
        if (other.type === name && other.callback === callback && other.capture === capture) return;
      }
      const listener = {
        __proto__: null, type: name, callback, capture, once, isHandler: false, removed: false,
      };
      add(listeners, listener);
      if (end !== undefined) onAbort(end, () => remove(state, listener), false);
    }

    removeEventListener(type, callback, options = undefined) {
      const state = this.#state;
      required(arguments, 2, 'AbortSignal.removeEventListener');
      const name = letters(type);
      known(options, 'AbortSignal.removeEventListener', '\ncapture\nonce\npassive\nsignal\n');
      const capture = isObject(options) ? !!member(options, 'capture') : !!options;
      const { listeners } = state;
      for (let i = 0; i < listeners.length; i++) {
        const listener = listeners[i];
        if (listener.type === name && listener.callback === callback && listener.capture === capture) {
          remove(state, listener);
          return;
        }
      }
    }
  }
  enumerable(AbortSignal, ['abort', 'any', 'timeout']);
  enumerable(AbortSignal.prototype, [
    'aborted', 'reason', 'throwIfAborted', 'onabort', 'addEventListener', 'removeEventListener',
  ]);
  tag(AbortSignal.prototype, 'AbortSignal');

  const create = () => {
    made = true;
    return stateOf(new AbortSignal());
  };
  const following = (states) => {
    const state = create();
    state.sources = list();
    for (let i = 0; i < states.length; i++) {
      if (!states[i].aborted) continue;
      state.aborted = true;
      state.reason = states[i].reason;
      return state;
    }
    for (let i = 0; i < states.length; i++) {
      // What follows others is not followed itself: its sources are.
      const from = states[i].sources;
      if (from === undefined) follow(state, states[i]);
      else for (let at = 0; at < from.length; at++) follow(state, from[at]);
    }
    return state;
  };
  const follow = (state, source) => {
    for (let i = 0; i < state.sources.length; i++) if (state.sources[i] === source) return;
    add(state.sources, source);
    add(source.followers, state);
  };

  let controllerState;
  class AbortController {
    #state = create();

    static {
      controllerState = (value) => (isObject(value) && #state in value ? value.#state : undefined);
    }

    get signal() { return this.#state.signal; }

    abort(reason = undefined) {
      const state = this.#state;
      abort(state, reason === undefined && !state.aborted ? abortError() : reason);
    }
  }
  enumerable(AbortController.prototype, ['signal', 'abort']);
  tag(AbortController.prototype, 'AbortController');
  P.views[P.views.length] = (value) => {
    const state = stateOf(value);
    const pairs = list();
    if (state !== undefined) {
      pairs[0] = 'aborted';
      pairs[1] = state.aborted;
      return { __proto__: null, between: ': ', quoted: false, pairs };
    }
    const controlled = controllerState(value);
    if (controlled === undefined) return undefined;
    pairs[0] = 'signal';
    pairs[1] = controlled.signal;
    return { __proto__: null, between: ': ', quoted: false, pairs };
  };
  return {
    __proto__: null,
    visible: { __proto__: null, AbortController, AbortSignal },
    stateOf, onAbort, following,
  };
});
