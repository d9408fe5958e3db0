const registry = new FinalizationRegistry(() => {});
const kept = [];
for (;;) {
  const object = {};
  kept.push(object);
  registry.register(object, [1, 2, 3]);
}
