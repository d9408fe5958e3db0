const t = async (name, ...request) => {
  let told;
  try {
    const response = await fetch(...request);
    told = response.status + ' ' + (await response.text()).slice(0, 400);
  } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
await t("five", "http://public.test/ladder/5"); await t("six", "http://public.test/ladder/6"); await t("loop", "http://public.test/loop");
