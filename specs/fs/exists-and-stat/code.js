const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("yes", () => fs.exists("a"));
t("no", () => fs.exists("b"));
t("folder", () => fs.stat(".").kind);
t("none", () => fs.stat("b"));
