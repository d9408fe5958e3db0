const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("name", () => fs.writeText("a".repeat(300), "x"));
t("path", () => fs.writeText("a/".repeat(3000) + "b", "x"));
t("read", () => fs.readText("ä".repeat(200)));
