return { a: Symbol('s') };
