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
  "http://127.0.0.1/",
  "http://127.1/",
  "http://127.0.1/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://017700000001/",
  "http://0177.0.0.1/",
  "http://0x7f.0.0.1/",
  "http://0x7f.1/",
  "http://0177.0x0.0.1/",
  "http://127.0.0.1./",
  "http://127.000.000.001/",
  "http://127.255.255.254/",
  "http://%31%32%37.0.0.1/",
  "http://\uff11\uff12\uff17.0.0.1/",
  "http://127\u30020\u30020\u30021/",
  "http://0X7F.1/",
]);
