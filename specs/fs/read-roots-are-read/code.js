const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
const root = fs.roots().map((r) => r.path ?? r).find((path) => path.endsWith("docs"));
t("roots", () => fs.roots().length);
t("read", () => fs.readText(root + "/a.txt"));
t("list", () => fs.list(root));
t("beside", () => fs.readText(root + "/../beside"));
t("link", () => fs.readText(root + "/link"));
t("prefix", () => fs.readText(root + "2/x"));
