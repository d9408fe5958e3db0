// fetch, by the Fetch standard. Whether a request may be made, and what is sent with it, is decided outside; here it is
// only put together, waited for and given up.
(function (native, P, need) {
  'use strict';
  const { Promise, Uint8Array, defineProperty, TypeError } = P;
  const { required } = need('idl');
  const { prepared } = need('request');
  const { fetched } = need('response');
  const { moved } = need('bodies');
  const { onAbort } = need('abort');
  const { effects } = native;

  const begin = (input, init, early, resolve, reject) => {
    const { method, url, headers, body, redirect, signal, maxBytes, offset } = prepared(input, init);
    if (signal !== null && signal.aborted) {
      reject(signal.reason);
      return;
    }
    const asked = {
      __proto__: null, method, url, headers, body: body === null ? undefined : new Uint8Array(moved(body).bytes),
      redirect, maxBytes, offset,
    };
    let forget;
    const id = effects.fetch(asked, (answer) => {
      if (forget !== undefined) forget();
      if (answer.refused !== true) {
        resolve(fetched(answer));
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
    if (signal === null) return;
    forget = onAbort(signal, () => {
      effects.cancel(id);
      reject(signal.reason);
    });
  };
  const visible = {
    __proto__: null,
    fetch(input, init = undefined) {
      const early = new TypeError('');
      // What is thrown in there is what the promise is rejected with.
      return new Promise((resolve, reject) => {
        required(arguments, 1, 'fetch');
        begin(input, init, early, resolve, reject);
      });
    },
  };
  return { __proto__: null, visible };
});
