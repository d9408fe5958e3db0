JSON.stringify = () => '"ESCAPED"';
JSON.parse = () => 'ESCAPED';
console.log('a line', 1, { a: [1, 2] }, new Map([[1, 2]]));
return { list: [1, 'refused', { deep: true }] };
