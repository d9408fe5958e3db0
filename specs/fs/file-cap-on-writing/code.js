const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
const mib = "x".repeat(1 << 20);
for (let i = 0; i < 10; i++) fs.appendText("a", mib);
t("one more", () => fs.appendText("a", "x"));
t("size", () => fs.stat("a").size);
t("whole", () => fs.writeText("b", mib.repeat(10) + "x"));
t("b", () => fs.exists("b"));
