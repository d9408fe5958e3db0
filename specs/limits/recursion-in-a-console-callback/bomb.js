const object = { toString() {
  console.log('%s', object);
  return 'x';
} };
console.log('%s', object);
