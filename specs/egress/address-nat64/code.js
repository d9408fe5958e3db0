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
  "http://[64:ff9b::10.0.0.5]/",
  "http://[64:ff9b::a00:5]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[64:ff9b:1::a00:5]/",
]);
