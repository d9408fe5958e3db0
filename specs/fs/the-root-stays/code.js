const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("delete", () => fs.deleteDir(".", {recursive: true}));
t("empty", () => fs.deleteDir("", {recursive: true}));
t("through", () => fs.deleteDir("d/..", {recursive: true}));
t("move", () => fs.move(".", "x"));
t("onto", () => fs.move("d", "."));
