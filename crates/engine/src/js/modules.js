// The parts of the web's surface, each a script that is loaded when it is first needed: ahead of the fork where an
// engine serves many calls, at the first touch where it serves one. A part gives an object without a prototype:
// `visible` holds what a guest may find, by its full name, and everything else is for other scripts only.
(function (native, P) {
  'use strict';
  const { part } = native;
  const loaded = { __proto__: null };
  const need = (name) => {
    if (loaded[name] === undefined) loaded[name] = part(name)(native, P, need);
    return loaded[name];
  };
  return need;
});
