const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("link", () => fs.delete("l"));
t("tree", () => fs.deleteDir("d", {recursive: true}));
t("linked-folder", () => fs.deleteDir("k", {recursive: true}));
