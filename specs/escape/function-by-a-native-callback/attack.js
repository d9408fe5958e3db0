const make = (() => {}).constructor;
const ways = [
  () => ['return 1'].map((text) => text).map(make)[0],
  () => Array.from(['return 1'], make)[0],
  () => new Map([['return 1', 1]]).keys().map(make).next().value,
  () => ['return 1', ''].reduce(make),
  () => JSON.parse('"return 1"', (key, value) => make(value)),
];
const seen = ways.map((way) => {
  try {
    return 'ESCAPED: ' + way()();
  } catch (error) {
    return error.message;
  }
});
return `refused: ${[...new Set(seen)].join(', ')}`;
