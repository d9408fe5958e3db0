const t = async (name, ...request) => {
  let told;
  try {
    const response = await fetch(...request);
    told = response.status + ' ' + (await response.text()).slice(0, 400);
  } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
await t("text", "http://public.test/echo", {method: "PUT", body: "ä"}); await t("form", "http://public.test/echo", {method: "POST", body: new URLSearchParams({a: "1 2"})}); await t("patch", "http://public.test/echo", {method: "PATCH", body: new Uint8Array([104, 105])});
