let seen = 'nobody';
function toString() {
  try {
    seen = toString.caller ?? 'nobody';
  } catch (error) {
    seen = 'nobody';
  }
  return 'a text';
}
console.log('%s', { toString });
return seen === 'nobody' ? 'refused: nobody' : `ESCAPED: ${seen}`;
