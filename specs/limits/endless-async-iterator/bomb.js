async function* naturals() {
  for (let i = 0; ; i++) yield i;
}
for await (const x of naturals());
