throw new RangeError('Maximum call stack size exceeded');
