const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("write", () => fs.writeText("a", "1"));
t("refused", () => fs.writeText("d", "1"));
t("list", () => fs.list("."));
