const t = async (name, ...request) => {
  let told;
  try {
    const response = await fetch(...request);
    told = response.status + ' ' + (await response.text()).slice(0, 400);
  } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
await t(303, "http://public.test/to/303?/echo", {method: "POST", body: "left behind"}); await t(302, "http://public.test/to/302?/echo", {method: "POST", body: "left behind"}); await t(307, "http://public.test/to/307?/echo", {method: "POST", body: "the body"});
