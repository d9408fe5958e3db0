const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("into", () => fs.move("d", "d/g"));
t("deeper", () => fs.move("d", "d/e/../f"));
