const holder = {};
console.log('%s', {
  toString() {
    Error.captureStackTrace?.(holder);
    return 'a text';
  },
});
return /\/|format|say/.test(holder.stack ?? '') ? `ESCAPED: ${holder.stack}` : 'refused: no frame of yours';
