return safety.fs.list(".");
