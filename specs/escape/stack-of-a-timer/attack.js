const stack = await new Promise((done) => setTimeout(() => done(new Error('x').stack), 1));
return /\/|bailiwick|node:/.test(stack) ? `ESCAPED: ${stack}` : 'refused: no place of yours';
