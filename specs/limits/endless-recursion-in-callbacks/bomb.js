[1].forEach(function again() {
  for (;;) [1].map(() => 1);
});
