const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("part", () => fs.readBytes("fits", {offset: 10485758}).length);
t("over", () => fs.readBytes("over"));
t("over-text", () => fs.readText("over"));
t("size", () => fs.stat("over").size);
