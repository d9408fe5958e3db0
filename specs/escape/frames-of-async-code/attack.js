await null;
const { stack } = new Error('x');
await new Promise((done) => queueMicrotask(done));
const later = await Promise.resolve().then(() => new Error('y').stack);
return /\/|node:|process/.test(stack + later) ? `ESCAPED: ${stack}${later}` : 'refused: no frame of yours';
