await new Promise((done) => setTimeout(done, 60000));
