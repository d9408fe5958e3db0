let list = [1];
for (;;) list = list.concat(list);
