let stack = '';
console.log('%s', {
  toString() {
    stack = new Error('inside').stack;
    return 'a text';
  },
});
return /\/|format|say|native/.test(stack) ? `ESCAPED: ${stack}` : 'refused: no frame of yours';
