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
  "http://256.0.0.1/",
  "http://0x100000000/",
  "http://1.2.3.4.5/",
  "http://09.0.0.1/",
  "http://[::g]/",
  "http://[fe80::1%25eth0]/",
  "http:///",
  "http://a b/",
]);
