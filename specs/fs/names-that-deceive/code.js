const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("line", () => fs.writeText("a\nb", "x"));
t("escape", () => fs.writeText("\u001b[2Ja", "x"));
t("zero", () => fs.writeText("a\u0000b", "x"));
t("bidi", () => fs.writeText("a\u202etxt.exe", "x"));
t("delete", () => fs.mkdir("a\u007f"));
