let stack = '';
console.log('%s', {
  toString() {
    stack = new Error('inside').stack;
    return 'a text';
  },
});
return /\/|bailiwick|node:/.test(stack) ? `ESCAPED: ${stack}` : 'refused: no place of yours';
