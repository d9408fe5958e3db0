const error = new Error('mine');
Object.defineProperty(error, 'stack', { value: 'at a (code:4294967295:4294967295)\n    at b (code:0:0)\n    at code:-1:-1\n    at code:99999999999999:1' });
throw error;
