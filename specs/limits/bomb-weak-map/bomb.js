const map = new WeakMap();
const kept = [];
for (;;) {
  const key = {};
  kept.push(key);
  map.set(key, [1]);
}
