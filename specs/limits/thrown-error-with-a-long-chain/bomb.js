let error;
for (let i = 0; i < 10000; i++) error = new Error('mine', { cause: error });
throw error;
