const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("empty", () => fs.readText(""));
t("dot", () => fs.readText("."));
t("slash", () => fs.readText("d/"));
t("file-as-folder", () => fs.readText("a/b"));
t("write-folder", () => fs.writeText("d", "x"));
t("list-file", () => fs.list("a"));
t("number", () => fs.readText(5));
t("object", () => fs.readText({toString: () => "../x"}));
t("none", () => fs.readText());
