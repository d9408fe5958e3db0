const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("grep", () => fs.grep("d/a.txt", "^h"));
t("inverted", () => fs.grep("d/a.txt", "h", {invert: true}));
t("find", () => fs.find(".", "**/*.txt"));
t("folders", () => fs.find(".", "*", {kind: "dir"}));
t("search", () => fs.search(".", "HO", {ignoreCase: true}));
