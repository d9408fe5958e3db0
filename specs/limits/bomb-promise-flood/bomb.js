const flood = () => {
  Promise.resolve().then(flood);
  Promise.resolve().then(flood);
};
flood();
await new Promise(() => {});
