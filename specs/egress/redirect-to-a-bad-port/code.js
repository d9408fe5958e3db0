const t = async (name, ...request) => {
  let told;
  try {
    const response = await fetch(...request);
    told = response.status + ' ' + (await response.text()).slice(0, 400);
  } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
for (const status of [301, 302, 303, 307, 308]) await t(status, "http://public.test/to/" + status + "?http://other.test:25/");
