const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
const out = "../outside";
const acts = {
  readText: () => fs.readText(out), readBytes: () => fs.readBytes(out), readJson: () => fs.readJson(out), list: () => fs.list(".."),
  stat: () => fs.stat(out), lineCount: () => fs.lineCount(out), slice: () => fs.slice(out),
  grep: () => fs.grep(out, "E"), find: () => fs.find("..", "*"), search: () => fs.search("..", "E"), cut: () => fs.cut(out, {fields: [1]}),
  sort: () => fs.sort(out), writeText: () => fs.writeText(out, "x"), writeBytes: () => fs.writeBytes(out, new Uint8Array(1)),
  appendText: () => fs.appendText(out, "x"), editText: () => fs.editText(out, "E", "x"), copyFrom: () => fs.copy(out, "x"),
  copyTo: () => fs.copy("d/f", out), mkdir: () => fs.mkdir("../new"), moveFrom: () => fs.move(out, "x"), moveTo: () => fs.move("d/f", out),
  delete: () => fs.delete(out), deleteDir: () => fs.deleteDir("..", {recursive: true}), exists: () => fs.exists(out),
};
for (const name in acts) t(name, acts[name]);
