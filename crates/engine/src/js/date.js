// Date, with the call's clock in place of the engine's: the host can make it stand still, and play it again.
(function (native, P) {
  'use strict';
  const { list, construct, defineProperty } = P;
  const Engine = P.Date;
  const { dateToString } = P;
  const clock = native.clock;
  const hidden = (object, key, value) => {
    defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  };
  const Date = function Date(year, month, date, hours, minutes, seconds, ms) {
    if (new.target === undefined) return dateToString(new Engine(clock()));
    if (arguments.length > 0) return construct(Engine, arguments, new.target);
    const args = list();
    args[0] = clock();
    return construct(Engine, args, new.target);
  };
  const statics = {
    now() {
      return clock();
    },
  };
  defineProperty(Date, 'prototype', { __proto__: null, value: Engine.prototype, writable: false });
  hidden(Date, 'now', statics.now);
  hidden(Date, 'parse', Engine.parse);
  hidden(Date, 'UTC', Engine.UTC);
  // The engine's own must not be found by the guest: it has a clock of its own.
  hidden(Engine.prototype, 'constructor', Date);
  return Date;
});
