return safety.fs.roots().length;
