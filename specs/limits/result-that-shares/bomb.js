let value = [1];
for (let i = 0; i < 40; i++) value = [value, value];
return value;
