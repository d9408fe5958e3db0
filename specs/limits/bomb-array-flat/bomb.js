let list = [1, 2];
for (;;) list = [list, list].flat(Infinity);
