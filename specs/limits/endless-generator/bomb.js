function* naturals() {
  for (let i = 0; ; i++) yield i;
}
for (const x of naturals());
