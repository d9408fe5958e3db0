/own/.exec('my own text');
console.log('a line %s', 'here');
const seen = [RegExp.lastMatch, RegExp.$1, RegExp.input, RegExp['$`']];
return seen.some((text) => /%s|line/.test(text ?? '')) ? `ESCAPED: ${seen}` : 'refused: nothing of yours';
