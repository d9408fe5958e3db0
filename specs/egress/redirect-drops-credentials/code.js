const t = async (name, ...request) => {
  let told;
  try {
    const response = await fetch(...request);
    told = response.status + ' ' + (await response.text()).slice(0, 400);
  } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const headers = {authorization: "Bearer carried-along", cookie: "session=carried-along", "x-other": "kept"};
await t("other host", "https://public.test/to/302?https://other.test/echo", {headers});
await t("other port", "https://public.test/to/302?https://public.test:8443/echo", {headers});
await t("upgrade", "http://public.test/to/302?https://public.test/echo", {headers});
