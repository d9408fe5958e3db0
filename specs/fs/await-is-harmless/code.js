await safety.fs.writeText("a", "x"); return [safety.fs.readText("a"), await safety.fs.readText("a")].join("");
