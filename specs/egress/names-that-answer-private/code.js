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
  "http://private.test/",
  "http://loopback.test/",
  "http://loopback-v6.test/",
  "http://any.test/",
  "http://mapped.test/",
  "http://nat64.test/",
  "http://many.test/",
]);
