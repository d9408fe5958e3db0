return safety.fs.readText("a");
