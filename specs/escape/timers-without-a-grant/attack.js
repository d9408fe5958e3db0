await new Promise((done) => setTimeout(done, 1));
console.log('ESCAPED');
