const a = {};
a.a = a;
console.log(a);
return 'done';
