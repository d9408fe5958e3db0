let first;
const second = (async () => {
  await null;
  await first;
})();
first = (async () => {
  await second;
})();
await first;
