return 'x'.padStart(2 ** 29).length;
