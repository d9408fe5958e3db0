const list = [];
list[4e9] = 1;
return list;
