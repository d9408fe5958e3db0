return ["readText" in safety.fs, "list" in safety.fs, (() => { try { safety.fs.copy("a", "b"); } catch (e) { return e.reason; } })()].join(" ");
