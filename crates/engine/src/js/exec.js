// sandbox.exec: a command in a command sandbox, through the host. A command is a list of words, and nobody splits a text.
// Arguments are checked for what they are, never for what they may: that the host does.
(function (native, P, need) {
  'use strict';
  const { Promise, list, isArray, keysOf, isSafeInteger, jsonParse, toWellFormed, Uint8Array, defineProperty, Error,
    TypeError, RangeError } = P;
  const { isObject, known } = need('idl');
  const { encode } = need('encoding');
  const { effects } = native;
  const MOST_WORDS = 8192;
  const MOST_VARIABLES = 1000;

  const wrong = (what, Class = TypeError) => {
    throw new Class('sandbox.exec: ' + what);
  };
  const word = (what, value) => {
    if (typeof value !== 'string') wrong(what + ' must be a string.');
    return toWellFormed(value);
  };
  const words = (given) => {
    if (!isArray(given)) wrong('the command must be an array of strings; no shell reads a text.');
    const length = given.length;
    if (!(length >= 1 && length <= MOST_WORDS)) wrong('a command has from 1 to ' + MOST_WORDS + ' words.', RangeError);
    const argv = list();
    for (let i = 0; i < length; i++) argv[i] = word('each word', given[i]);
    return argv;
  };
  const variables = (given) => {
    const flat = list();
    if (given === undefined || given === null) return flat;
    if (!isObject(given)) wrong('env must be an object of strings.');
    const names = keysOf(given);
    if (names.length > MOST_VARIABLES) wrong('env has more than ' + MOST_VARIABLES + ' variables.', RangeError);
    for (let i = 0; i < names.length; i++) {
      flat[2 * i] = word('each variable', names[i]);
      flat[2 * i + 1] = word('each value of env', given[names[i]]);
    }
    return flat;
  };
  const request = (command, options) => {
    const asked = { __proto__: null, argv: words(command), stdin: undefined, env: undefined, timeoutMs: undefined };
    if (options !== undefined && options !== null && !isObject(options)) wrong('the options must be an object.');
    known(options, 'sandbox.exec', '\nstdin\nenv\ntimeoutMs\n');
    const option = (key) => (options === undefined || options === null ? undefined : options[key]);
    const stdin = option('stdin');
    if (stdin !== undefined) asked.stdin = new Uint8Array(encode(word('stdin', stdin)));
    asked.env = variables(option('env'));
    const timeout = option('timeoutMs');
    if (timeout !== undefined) {
      if (!isSafeInteger(timeout) || timeout < 1) wrong('timeoutMs must be a whole number from 1 on.', RangeError);
      asked.timeoutMs = timeout;
    }
    return asked;
  };
  const visible = {
    __proto__: null,
    'sandbox.exec': {
      // A method has no construct, and its name is what people write.
      exec(command, options = undefined) {
        const early = new Error('');
        return new Promise((resolve, reject) => {
          effects.exec(request(command, options), (answer) => {
            if (answer.refused !== true) {
              resolve(jsonParse(answer.json));
              return;
            }
            // The error was made when the code asked, so that it says where.
            reject(effects.refusal(answer, function (message) {
              defineProperty(early, 'message', {
                __proto__: null, value: message, writable: true, enumerable: false, configurable: true,
              });
              return early;
            }));
          });
        });
      },
    }.exec,
  };
  return { __proto__: null, visible };
});
