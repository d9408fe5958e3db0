return /x*y/.test('x'.repeat(500000));
