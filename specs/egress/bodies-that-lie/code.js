const t = async (name, ...request) => {
  let told;
  try {
    const response = await fetch(...request);
    told = response.status + ' ' + (await response.text()).slice(0, 400);
  } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const all = async (urls) => { for (const url of urls) await t(url, url); };
await all([
  "http://public.test/truncated",
  "http://public.test/chunked-garbage",
  "http://public.test/chunked-truncated",
  "http://public.test/reset",
  "http://public.test/mislabelled",
  "http://public.test/torn",
  "http://public.test/hang-up",
  "http://public.test/gibberish",
]);
