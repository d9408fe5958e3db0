const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("count", () => fs.lineCount("a"));
t("slice", () => fs.slice("a", {from: 2, to: 2}));
t("sort", () => fs.sort("a", {numeric: true, delimiter: ";"}));
t("cut", () => fs.cut("a", {delimiter: ";", fields: [2]}));
