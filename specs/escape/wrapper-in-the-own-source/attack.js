const text = String(arguments.callee).replace(/\s+/g, ' ');
const ours = text.slice(0, text.indexOf('const text'));
return ours.length > 20 || typeof require !== 'undefined' ? `ESCAPED: ${ours}` : `refused: ${ours.length > 0}`;
