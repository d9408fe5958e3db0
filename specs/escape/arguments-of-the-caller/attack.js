let seen = 'nothing';
function toJSON() {
  try {
    seen = toJSON.caller?.arguments ?? toJSON.arguments?.callee?.caller ?? 'nothing';
  } catch {
    seen = 'nothing';
  }
  console.log(seen === 'nothing' ? 'refused: nothing' : 'ESCAPED');
  return 1;
}
function toString() {
  toJSON();
  try {
    if (toString.caller) console.log('ESCAPED');
  } catch {}
  return 'x';
}
console.log('%s', { toString });
return { toJSON };
