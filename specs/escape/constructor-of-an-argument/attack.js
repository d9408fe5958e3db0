const seen = [given, given.list, given.list[0], given.text].map((value) => {
  try {
    return 'ESCAPED: ' + value.constructor.constructor('return 1')();
  } catch (error) {
    return Object(value) instanceof Object ? error.message : 'ESCAPED: a foreign realm';
  }
});
return `refused: ${[...new Set(seen)]}`;
