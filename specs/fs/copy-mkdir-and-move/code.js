const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("mkdir", () => fs.mkdir("d/e"));
t("copy", () => fs.copy("a", "d/e/b"));
t("move", () => fs.move("d", "f"));
t("read", () => fs.readText("f/e/b"));
t("gone", () => fs.exists("d"));
