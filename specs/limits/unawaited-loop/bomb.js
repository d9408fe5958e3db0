(async () => {
  for (;;) await null;
})();
return 'done';
