const t = async (name, ...request) => {
  let told;
  try {
    const response = await fetch(...request);
    told = response.status + ' ' + (await response.text()).slice(0, 400);
  } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
for (const [name, value] of [["x-a", "b\r\nx-evil: 1"], ["x-a", "b\nx-evil: 1"], ["x-a\r\nx-evil", "1"], ["x a", "1"], ["x-a", "\u0000"]])
  await t(JSON.stringify(name + value), "http://public.test/echo", {headers: {[name]: value}});
