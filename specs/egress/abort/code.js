const t = async (name, ...request) => {
  let told;
  try {
    const response = await fetch(...request);
    told = response.status + ' ' + (await response.text()).slice(0, 400);
  } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const before = new AbortController(); before.abort();
await t("before", "http://public.test/", {signal: before.signal});
const during = new AbortController(); const pending = t("during", "http://public.test/silent", {signal: during.signal}); during.abort(); await pending;
