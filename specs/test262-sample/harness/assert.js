function assert(value, message) {
  if (value !== true) throw new Test262Error(message);
}
assert.sameValue = function (actual, expected, message) {
  if (!Object.is(actual, expected)) throw new Test262Error(`${message}: ${String(actual)} is not ${String(expected)}`);
};
