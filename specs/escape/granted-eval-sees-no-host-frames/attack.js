const seen = [];
Error.prepareStackTrace = (error, frames) => {
  seen.push('frames');
  return 'mine';
};
function caller() {
  return Function('f', 'try { return f.caller } catch { return null }')(caller);
}
const text = (0, eval)("new Error('x').stack");
if (/\/|node:/.test(text) || text === 'mine') seen.push('paths');
console.log('%s', { toString: () => (caller() ? (seen.push('caller'), 'x') : 'x') });
return seen.length === 0 ? 'refused: nothing' : `ESCAPED: ${seen}`;
