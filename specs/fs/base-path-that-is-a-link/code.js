const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("read", () => fs.readText("reports/secret"));
t("write", () => fs.writeText("reports/new", "x"));
