const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
const root = fs.roots().map((r) => r.path ?? r).find((path) => path.endsWith("docs"));
t("write", () => fs.writeText(root + "/new", "x"));
t("append", () => fs.appendText(root + "/a.txt", "x"));
t("delete", () => fs.delete(root + "/a.txt"));
t("out", () => fs.move(root + "/a.txt", "mine"));
t("copy", () => fs.copy(root + "/a.txt", "mine"));
t("mine", () => fs.readText("mine"));
