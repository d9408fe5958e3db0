const { stack } = new Error('where am I');
return /\/|\\|file:|node:|\.rs|\.c:/.test(stack) ? `ESCAPED: ${stack}` : 'refused: no path';
