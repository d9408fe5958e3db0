const make = () => ({ kept: 'x'.repeat(1e6), get next() { return all[all.push(make()) - 1]; } });
const all = [];
return { get a() {
  for (;;) all.push(make());
} };
