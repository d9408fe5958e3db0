const t = async (name, ...request) => {
  let told;
  try {
    const response = await fetch(...request);
    told = response.status + ' ' + (await response.text()).slice(0, 400);
  } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
await t("a", "http://public.test/"); await t("b", "http://93.184.216.34/"); await t("c", "http://other.test/echo");
