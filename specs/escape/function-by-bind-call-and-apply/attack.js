const make = (() => {}).constructor;
const ways = [
  () => make.bind(null, 'return 1')(),
  () => make.call(null, 'return 1'),
  () => make.apply(null, ['return 1']),
  () => make.call.call(make, null, 'return 1'),
  () => Reflect.apply(make, null, ['return 1']),
  () => make.bind.call(make, null, 'return 1').call(),
];
const seen = ways.map((way) => {
  try {
    return 'ESCAPED: ' + way()();
  } catch (error) {
    return error.message;
  }
});
return `refused: ${[...new Set(seen)].join(', ')}`;
