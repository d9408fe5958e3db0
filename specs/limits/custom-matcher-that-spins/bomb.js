'x'.replace({ [Symbol.replace]() {
  for (;;);
} }, 'y');
