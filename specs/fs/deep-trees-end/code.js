const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("list", () => fs.list(".", {recursive: true}));
t("make", () => fs.mkdir("d/".repeat(70) + "e"));
