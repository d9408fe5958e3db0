const t = async (name, ...request) => {
  let told;
  try {
    const response = await fetch(...request);
    told = response.status + ' ' + (await response.text()).slice(0, 400);
  } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
await t("a", "https://public.test/to/302?https://other.test/to/302?https://public.test/echo", {headers: {authorization: "Bearer carried-along"}});
