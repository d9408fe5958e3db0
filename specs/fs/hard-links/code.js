const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("append", () => fs.appendText("a", "x"));
t("edit", () => fs.editText("a", "safe", "x"));
t("write", () => fs.writeText("a", "x"));
t("read", () => fs.readText("a"));
