function Test262Error(message) {
  this.message = message || '';
}
Test262Error.prototype.toString = function () {
  return 'Test262Error: ' + this.message;
};
