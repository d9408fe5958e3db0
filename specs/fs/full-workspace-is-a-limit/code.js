safety.fs.writeText("new", "x".repeat(7 << 20));
