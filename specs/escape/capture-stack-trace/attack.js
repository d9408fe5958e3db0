const holder = {};
console.log('%s', {
  toString() {
    Error.captureStackTrace?.(holder);
    return 'a text';
  },
});
return /\/|bailiwick|node:/.test(holder.stack ?? '') ? `ESCAPED: ${holder.stack}` : 'refused: no place of yours';
