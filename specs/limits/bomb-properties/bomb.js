const object = {};
for (let i = 0; ; i++) object[`key${i}`] = i;
