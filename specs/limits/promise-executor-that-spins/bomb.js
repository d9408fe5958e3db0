for (;;) new Promise(() => {
  for (;;);
}).catch(() => console.log('caught'));
