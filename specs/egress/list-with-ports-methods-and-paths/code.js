const t = async (name, ...request) => {
  let told;
  try {
    const response = await fetch(...request);
    told = response.status + ' ' + (await response.text()).slice(0, 400);
  } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
await t("fine", "https://public.test:8443/echo");
await t("port", "https://public.test/echo");
await t("method", "https://public.test:8443/echo", {method: "POST"});
await t("path", "https://public.test:8443/json");
await t("dots", "https://public.test:8443/echo/../json");
await t("encoded", "https://public.test:8443/echo/..%2fjson");
