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
  "http://public.test:1/",
  "http://public.test:7/",
  "http://public.test:22/",
  "http://public.test:23/",
  "http://public.test:25/",
  "http://public.test:53/",
  "http://public.test:110/",
  "http://public.test:119/",
  "http://public.test:143/",
  "http://public.test:465/",
  "http://public.test:587/",
  "http://public.test:993/",
  "http://public.test:2049/",
  "http://public.test:5060/",
  "http://public.test:6000/",
  "http://public.test:6667/",
  "http://public.test:6697/",
  "http://public.test:10080/",
]);
