const seen = await new Promise((done) => {
  const id = setTimeout(function () {
    done([typeof id, this === undefined || this === globalThis]);
  }, 1);
});
return seen.join() === 'number,true' ? 'refused: a number and nothing' : `ESCAPED: ${seen}`;
