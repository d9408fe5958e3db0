const stack = await new Promise((done) => setTimeout(() => done(new Error('x').stack), 1));
return /\/|node:|listOnTimeout|fire/.test(stack) ? `ESCAPED: ${stack}` : 'refused: no frame of yours';
