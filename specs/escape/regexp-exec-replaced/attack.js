const say = console.log;
for (const key of ['exec', 'test', Symbol.replace, Symbol.match, Symbol.split, Symbol.search]) {
  RegExp.prototype[key] = () => {
    say('ESCAPED');
    return 'x';
  };
}
console.log('a line %s %d %j', 'with', 3, 'places');
console.log('a line', 1, { a: [1, 2] }, new Map([[1, 2]]));
return { list: [1, 'refused', { deep: true }] };
