const endless = { [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) };
for (const x of endless);
