const found = globalThis['pro' + 'cess'];
console.log(found ? 'ESCAPED' : 'ran');
