const t = async (name, ...request) => {
  let told;
  try {
    const response = await fetch(...request);
    told = response.status + ' ' + (await response.text()).slice(0, 400);
  } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
await t("a", "https://public.test/"); await t("b", "https://public.test:8443/");await t("c", "https://93.184.216.34/");
