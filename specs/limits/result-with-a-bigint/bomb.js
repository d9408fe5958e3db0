return { a: 2n ** 70n };
