let found = 'nothing';
with (console) {
  found = typeof _stdout !== 'undefined' || typeof Console !== 'undefined' ? 'ESCAPED' : 'refused: nothing';
}
return found;
