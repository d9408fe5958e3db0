safety.fs.writeText("a", "x");
const text = safety.fs.readText("a");
safety.fs.delete("a");
return text;
