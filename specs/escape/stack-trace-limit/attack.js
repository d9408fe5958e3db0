Error.stackTraceLimit = Infinity;
const { stack } = new Error('x');
return /\/|node:|bailiwick/.test(stack) ? `ESCAPED: ${stack}` : 'refused: no frame of yours';
