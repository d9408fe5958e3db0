const list = [];
for (;;) list.push(list.length);
