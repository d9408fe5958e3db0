const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("bomb", () => fs.grep("a", "^(a+)+$").matches ?? fs.grep("a", "^(a+)+$"));
t("nested", () => fs.grep("a", "(a|aa|a?){1,50}b"));
t("back", () => fs.grep("a", "(a)\\1"));
t("around", () => fs.grep("a", "(?=a)"));
t("broken", () => fs.grep("a", "("));
t("huge", () => fs.grep("a", "(a{1000}){1000}"));
