const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
for (const path of ["abs", "rel", "dir/hosts", "proc", "fd", "chain", "loop", "dangling"]) t(path, () => fs.readText(path));
t("list", () => fs.list("dir"));
t("search", () => fs.search(".", "ESCAPED|localhost"));
t("deep", () => fs.list(".", {recursive: true}));
