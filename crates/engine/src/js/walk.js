// What a class that is a list of pairs has in common with the others: entries, keys, values, forEach and its iterator.
//
// For other scripts: `iterable(Class, name, pairsOf, shown)`. `pairsOf(instance)` gives the flat list of names and values
// as it is now, and throws when it is no instance; `shown(value)` is what a guest gets of a value.
(function (native, P, need) {
  'use strict';
  const { list, apply, defineProperty, setPrototypeOf, iterator, iteratorPrototype, TypeError } = P;
  const { required, enumerable, tag } = need('idl');

  const iterable = (Class, name, pairsOf, shown) => {
    class Walk {
      #from;
      #kind;
      #at = 0;

      constructor(from, kind) {
        this.#from = from;
        this.#kind = kind;
      }

      next() {
        const kind = this.#kind;
        const pairs = pairsOf(this.#from);
        const at = this.#at;
        if (at >= pairs.length) return { value: undefined, done: true };
        this.#at = at + 2;
        if (kind === 1) return { value: pairs[at], done: false };
        const value = shown(pairs[at + 1]);
        return { value: kind === 2 ? value : [pairs[at], value], done: false };
      }
    }
    delete Walk.prototype.constructor;
    setPrototypeOf(Walk.prototype, iteratorPrototype);
    tag(Walk.prototype, name + ' Iterator');
    enumerable(Walk.prototype, ['next']);
    const methods = {
      __proto__: null,
      entries() {
        pairsOf(this);
        return new Walk(this, 0);
      },
      keys() {
        pairsOf(this);
        return new Walk(this, 1);
      },
      values() {
        pairsOf(this);
        return new Walk(this, 2);
      },
      forEach(callback, thisArg = undefined) {
        pairsOf(this);
        required(arguments, 1, name + '.forEach');
        if (typeof callback !== 'function') throw new TypeError('The callback must be a function.');
        for (let at = 0; ; at += 2) {
          // Asked for anew each time: the callback may change what is walked over.
          const pairs = pairsOf(this);
          if (at >= pairs.length) return;
          const args = list();
          args[0] = shown(pairs[at + 1]);
          args[1] = pairs[at];
          args[2] = this;
          apply(callback, thisArg, args);
        }
      },
    };
    const put = (key, value, isSeen) => {
      defineProperty(Class.prototype, key, {
        __proto__: null, value, writable: true, enumerable: isSeen, configurable: true,
      });
    };
    put('entries', methods.entries, true);
    put('keys', methods.keys, true);
    put('values', methods.values, true);
    put('forEach', methods.forEach, true);
    put(iterator, methods.entries, false);
  };
  return { __proto__: null, iterable };
});
