setTimeout("console.log('ran')", 1);
await new Promise((done) => setTimeout(done, 20));
