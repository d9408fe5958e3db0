Array.prototype.every.call({ length: 2 ** 53 - 1, 0: 1 }, () => true);
