let error;
for (;;) error = new Error('x', { cause: error });
