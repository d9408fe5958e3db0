const make = new Proxy((() => {}).constructor, {});
const seen = [() => make('return 1'), () => new make('return 1')].map((way) => {
  try {
    return 'ESCAPED: ' + way()();
  } catch (error) {
    return error.message;
  }
});
return `refused: ${seen.join(', ')}`;
