const t = async (name, ...request) => {
  let told;
  try {
    const response = await fetch(...request);
    told = response.status + ' ' + (await response.text()).slice(0, 400);
  } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
await t("error", "http://public.test/to/302?/", {redirect: "error"}); await t("manual", "http://public.test/to/302?http://10.0.0.5/", {redirect: "manual"}); await t("nowhere", "http://public.test/nowhere"); const r = await fetch("http://public.test/to/301?/json"); console.log(r.redirected, r.url);
