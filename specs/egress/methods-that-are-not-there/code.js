const t = async (name, ...request) => {
  let told;
  try {
    const response = await fetch(...request);
    told = response.status + ' ' + (await response.text()).slice(0, 400);
  } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
for (const method of ["CONNECT", "TRACE", "TRACK", "GET /x HTTP/1.1\r\n"]) await t(JSON.stringify(method), "http://public.test/echo", {method});
