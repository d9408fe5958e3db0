const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("write", () => fs.writeText("A", "1"));
t("other", () => fs.exists("a"));
t("both", () => fs.writeText("a", "2"));
t("read", () => fs.readText("A"));
