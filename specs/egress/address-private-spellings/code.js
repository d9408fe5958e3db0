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
  "http://10.0.0.5/",
  "http://10.5/",
  "http://167772165/",
  "http://0xa000005/",
  "http://01200000005/",
  "http://012.0.0.5/",
  "http://0xa.0x0.0x0.0x5/",
  "http://172.16.0.1/",
  "http://172.31.255.255/",
  "http://192.168.1.1/",
  "http://192.168.257/",
  "http://0xc0a80101/",
]);
