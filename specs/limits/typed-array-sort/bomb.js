const list = new Float64Array(500000);
for (;;) {
  for (let i = 0; i < 1000; i++) list[i] = -i;
  list.sort();
}
