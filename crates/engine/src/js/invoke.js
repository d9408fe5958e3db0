// Calls `execute` and waits for what it gives, be it a promise or not.
(function (native, P) {
  'use strict';
  return async (execute, params, config) => execute(params, config);
});
