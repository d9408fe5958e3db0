const iterator = { next: () => ({ done: false }), return() {
  for (;;);
} };
for (const x of { [Symbol.iterator]: () => iterator }) break;
