const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("file", () => fs.delete("a"));
t("full", () => fs.deleteDir("d"));
t("folder-as-file", () => fs.delete("d"));
t("recursive", () => fs.deleteDir("d", {recursive: true}));
t("left", () => fs.list(".").entries ?? fs.list("."));
