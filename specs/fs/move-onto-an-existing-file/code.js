safety.fs.move("a", "b");
