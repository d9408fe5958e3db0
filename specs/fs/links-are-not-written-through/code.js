const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("out", () => fs.writeText("out", "x"));
t("append", () => fs.appendText("out", "x"));
t("edit", () => fs.editText("out", "safe", "x"));
t("inside", () => fs.writeText("in", "x"));
t("folder", () => fs.writeText("dir/new", "x"));
t("copy", () => fs.copy("a", "out"));
t("mkdir", () => fs.mkdir("dir/new"));
t("move", () => fs.move("a", "dir/a"));
