let list = [];
for (let i = 0; i < 1e5; i++) list = [list];
return list;
