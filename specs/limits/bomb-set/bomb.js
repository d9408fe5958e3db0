const set = new Set();
for (let i = 0; ; i++) set.add(i);
