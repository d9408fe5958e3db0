return safety.fs.readText("../x");
