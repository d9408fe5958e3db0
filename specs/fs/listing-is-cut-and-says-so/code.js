const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
const all = fs.list(".");
t("shape", () => [all.length ?? all.entries.length, all.truncated]);
