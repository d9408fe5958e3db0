const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("append", () => fs.appendText("a", "one two two\n"));
t("again", () => fs.appendText("a", "end"));
t("twice", () => fs.editText("a", "two", "2"));
t("none", () => fs.editText("a", "three", "3"));
t("once", () => fs.editText("a", "one", "1"));
t("all", () => fs.editText("a", "two", "2", {all: true}));
t("text", () => fs.readText("a"));
