const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("in", () => fs.readText("reports/a"));
t("beside", () => fs.readText("secret"));
t("through", () => fs.readText("reports/../secret"));
t("list", () => fs.list("."));
t("write", () => fs.writeText("new", "x"));
t("prefix", () => fs.writeText("reports2/x", "x"));
t("own", () => fs.writeText("reports/b", "x"));
