function* wait() {
  yield [1, 2, 3];
}
const kept = [];
for (;;) {
  const it = wait();
  it.next();
  kept.push(it);
}
