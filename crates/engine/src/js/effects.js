// Effects on the world, for the scripts that make them visible (`fetch`, `safety.fs`, `sandbox.exec`).
//
// fetch(request, settle): asks, and goes on. `request` is an object without a prototype: method, url, headers (a flat
//   list of names and values), body (a Uint8Array of ours, or undefined), redirect (0 follow, 1 error, 2 manual),
//   maxBytes and offset (numbers or undefined). Gives the number of the effect. `settle(answer)` is called once when
//   the answer is there: {status, statusText, url, redirected, headers (flat), body (ArrayBuffer), whole}, or
//   {refused: true, id, code, reason, message, hint, denied}.
// exec(request, settle): the same for a command: argv (a list), stdin (a Uint8Array of ours, or undefined), env (a flat
//   list), timeoutMs (a number or undefined). The answer is {json}, or a refusal.
// cancel(id): the answer is not wanted any more; `settle` will not be called.
// file(request): asks, and waits: {text}, {bytes} or {json}, or a refusal as above.
// refusal(answer, Class): the error to throw for a refusal. Uncaught, it ends the call with the host's own account.
(function (native, P, refused) {
  'use strict';
  const { Map, mapGet, mapSet, mapDelete, jsonParse, defineProperty } = P;
  const settling = new Map();

  const fetch = (request, settle) => {
    const id = native.startFetch(request);
    mapSet(settling, id, settle);
    return id;
  };
  const exec = (request, settle) => {
    const id = native.startExec(request);
    mapSet(settling, id, settle);
    return id;
  };
  const cancel = (id) => {
    if (mapDelete(settling, id)) native.cancel(id);
  };
  const deliver = (id, answer) => {
    const settle = mapGet(settling, id);
    mapDelete(settling, id);
    answer.id = id;
    if (settle !== undefined) settle(answer);
  };
  const field = (error, key, value) => {
    defineProperty(error, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  };
  const refusal = (answer, Class) => {
    const error = new Class(answer.message + ' (' + answer.reason + ')');
    field(error, 'code', answer.code);
    field(error, 'reason', answer.reason);
    if (typeof answer.hint === 'string') field(error, 'hint', answer.hint);
    field(error, 'denied', typeof answer.denied === 'string' ? jsonParse(answer.denied) : null);
    refused(error, answer.id);
    return error;
  };
  return { __proto__: null, fetch, exec, cancel, deliver, file: native.file, refusal };
});
