const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("read", () => fs.readText("p"));
t("bytes", () => fs.readBytes("p"));
t("append", () => fs.appendText("p", "x"));
t("write", () => fs.writeText("p", "x"));
t("lines", () => fs.lineCount("p"));
t("copy", () => fs.copy("p", "c"));
t("search", () => fs.search(".", "x"));
