const list = [{ get a() {
  list.length = 0;
  return 1;
} }, 2, 3];
return list;
