return Promise.reject(new TypeError('mine'));
