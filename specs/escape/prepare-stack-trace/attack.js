let handed = 'nothing';
Error.prepareStackTrace = (error, frames) => {
  handed = frames.map((frame) => typeof (frame.getFunction?.() ?? frame.getThis?.() ?? frame.getFileName?.()));
  return 'a text of mine';
};
String(new Error('x').stack);
console.log('%s', {
  toString() {
    return String(new Error('y').stack).slice(0, 5);
  },
});
return handed === 'nothing' ? 'refused: nothing' : `ESCAPED: ${handed}`;
