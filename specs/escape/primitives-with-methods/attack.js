for (const kind of [Number, Boolean, BigInt, Symbol, Object]) {
  for (const name of ['toString', 'valueOf', 'toLocaleString']) {
    kind.prototype[name] = () => 'ESCAPED';
  }
}
Number.prototype[Symbol.toPrimitive] = () => 'ESCAPED';
Object.prototype[Symbol.toPrimitive] = () => 'ESCAPED';
console.log('a line %s %s', 1, true);
console.log(Object(1), Object(true), 5n);
return [1, true, 'refused'];
