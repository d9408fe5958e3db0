const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("quota", () => fs.workspace().quota);
t("over", () => fs.writeText("new", "x".repeat(7 << 20)));
t("copy", () => fs.copy("f1", "c"));
t("append", () => fs.appendText("small", "x".repeat(7 << 20)));
t("delete", () => fs.delete("f1"));
t("again", () => fs.writeText("new", "x".repeat(7 << 20)).size);
