const list = Array(1e6).fill(0);
for (;;) list.indexOf(1);
