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
  "file:///etc/passwd",
  "ftp://public.test/",
  "gopher://127.0.0.1:6379/_x",
  "data:text/plain,hello",
  "ws://public.test/",
  "dict://127.0.0.1/",
  "jar:http://public.test!/",
  "blob:http://public.test/x",
  "about:blank",
  "javascript:1",
]);
