const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("own", () => fs.workspace());
for (const name of ["outside", "secrets.key"]) t(name, () => fs.readText("/home/.local/share/bailiwick/" + name));
