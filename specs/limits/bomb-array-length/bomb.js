const list = new Array(2 ** 26);
for (let i = list.length - 1; ; i--) list[i] = i;
