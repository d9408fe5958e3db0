const t = async (name, ...request) => {
  let told;
  try {
    const response = await fetch(...request);
    told = response.status + ' ' + (await response.text()).slice(0, 400);
  } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const all = async (urls) => { for (const url of urls) await t(url, url); };
const r = await fetch("http://10.0.0.5/"); console.log(r.status, (await r.text()).length); await all(["http://127.0.0.1/", "http://private.test/"]);
