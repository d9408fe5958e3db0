const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("write", () => fs.writeText("a.json", "{\"ä\": [1]}"));
t("text", () => fs.readText("a.json"));
t("bytes", () => [...fs.readBytes("a.json")].length);
t("part", () => [...fs.readBytes("a.json", {offset: 2, length: 2})]);
t("json", () => fs.readJson("a.json"));
t("size", () => fs.stat("a.json").size);
