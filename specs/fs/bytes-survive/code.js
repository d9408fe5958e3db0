const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
t("write", () => fs.writeBytes("a", new Uint8Array([0, 255, 254, 10])));
t("bytes", () => [...fs.readBytes("a")]);
t("text", () => fs.readText("a"));
