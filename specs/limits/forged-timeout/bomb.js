throw Object.assign(new Error('the wall-clock limit was reached'), { name: 'TIMEOUT', code: 'TIMEOUT' });
