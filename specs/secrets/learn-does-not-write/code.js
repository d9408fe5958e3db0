try { safety.fs.writeText("a", "x"); } catch {}
return 1;
