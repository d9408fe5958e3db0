const t = (name, act) => {
  let told;
  try { told = JSON.stringify(act()); } catch (error) { told = error.reason ?? String(error); }
  console.log(name + ' -> ' + told);
};
const fs = safety.fs;
const spellings = ["../outside", "../../outside", "./../outside", "d/../../outside", "d/../../../outside", ".//..//outside",
  "d/./.././../outside", "../w/../outside", "..%2foutside", "%2e%2e/outside", "%2e%2e%2foutside", "..\\outside", "d\\..\\..\\outside",
  "..\u2215outside", "\uff0e\uff0e/outside", "..\u0000/outside", "d/\u0000/../../outside", "....//outside", "..;/outside", " ../outside", "../outside/"];
for (const path of spellings) t(JSON.stringify(path), () => fs.readText(path));
